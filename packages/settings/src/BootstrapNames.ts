/**
 * Variables that decide what runs, with which code, and whom it talks to. A `.env` file that is merely found must not set them: it may
 * have come with somebody else's repository.
 */

const names = new Set([
  // the process
  "PATH",
  "HOME",
  "USERPROFILE",
  "SHELL",
  "NODE_OPTIONS",
  "NODE_PATH",
  "NODE_EXTRA_CA_CERTS",
  "LD_PRELOAD",
  "LD_LIBRARY_PATH",
  "LD_AUDIT",
  // interpreters
  "BASH_ENV",
  "ENV",
  "SHELLOPTS",
  "BASHOPTS",
  "PERL5OPT",
  "PERL5LIB",
  "PYTHONSTARTUP",
  "PYTHONPATH",
  "PYTHONHOME",
  "RUBYOPT",
  "RUBYLIB",
  "JAVA_TOOL_OPTIONS",
  "_JAVA_OPTIONS",
  "JDK_JAVA_OPTIONS",
  // version control, and programs that others start
  "GIT_SSH",
  "GIT_SSH_COMMAND",
  "GIT_EXTERNAL_DIFF",
  "GIT_PAGER",
  "GIT_EDITOR",
  "GIT_ASKPASS",
  "SSH_ASKPASS",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_COUNT",
  "EDITOR",
  "VISUAL",
  "PAGER",
  "BROWSER",
  // the network
  "DEEPSEEK_BASE_URL",
  "DEEPSEEK_SEARCH_BASE_URL",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "all_proxy",
  "no_proxy",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "NODE_TLS_REJECT_UNAUTHORIZED"
])

const prefixes = ["DSH_", "XDG_", "DYLD_", "BASH_FUNC_"]

export const isBootstrap = (name: string): boolean =>
  names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
