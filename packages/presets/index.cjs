// Where the presets of the product are, wherever it is installed.
"use strict"
exports.folder = require("node:path").join(__dirname, "presets")
