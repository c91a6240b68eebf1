/**
 * What everything else stands on: the files of the product itself, and HTTP.
 */
import { GuardedHttp } from "@dsh/http/GuardedHttp"
import * as HttpClientNode from "@dsh/http/HttpClientNode"
import * as Plugin from "@dsh/kernel/Plugin"
import * as InPlace from "@dsh/persistence/InPlace"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Path from "@effect/platform/Path"
import * as Layer from "effect/Layer"

const platform = Plugin.make({
  name: "@effect/platform-node",
  description: "The file system of the product itself, and paths.",
  provides: [FileSystem.FileSystem, Path.Path],
  layer: () => Layer.merge(Layer.provide(InPlace.layer, NodeFileSystem.layer), NodePath.layer)
})

const http = Plugin.make({
  name: "@dsh/http/HttpClientNode",
  description: "HTTP through proxies, with the certificates of the system.",
  provides: [HttpClient.HttpClient],
  layer: () => HttpClientNode.layer
})

const guardedHttp = Plugin.make({
  name: "@dsh/http/GuardedHttp",
  description: "HTTP for addresses that a model chose: nothing private is reached.",
  provides: [GuardedHttp],
  layer: () => HttpClientNode.layerGuarded()
})

export const plugins = [platform, http, guardedHttp]
