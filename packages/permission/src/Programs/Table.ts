/**
 * The programs that are known, by name.
 */

const names = (...lines: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(" ")))

export const carriers = names(
  "env nice nohup timeout time command builtin exec coproc xargs eval setsid stdbuf ionice chrt taskset caffeinate",
  "genv gnice gnohup gtimeout gxargs gstdbuf sudo doas su runuser pkexec ssh mosh docker podman nerdctl kubectl oc lxc",
  "nsenter chroot unshare bwrap firejail proot fakeroot systemd-run start-stop-daemon setpriv capsh setarch linux32 linux64",
  "watch parallel entr flock script scriptreplay strace ltrace ptrace gdb lldb perf valgrind ldd unbuffer expect xvfb-run",
  "dbus-run-session dbus-launch busybox toybox npx pnpx bunx uvx pipx corepack direnv dotenv nvm rbenv pyenv asdf mise",
  "sh bash rbash dash ash zsh ksh mksh pdksh fish csh tcsh nu elvish xonsh",
  "run-parts catchsegv hyperfine chpst s6-setuidgid softlimit setlock gosu tini dumb-init"
)

/** They search, and run a command only where an option says so. */
export const searchers = names("find gfind fd fdfind")

export const interpreters = names(
  "pwsh powershell cmd source . trap alias unalias set",
  "shopt enable hash let declare typeset export readonly local unset read mapfile readarray getopts bind complete compgen fc jobs",
  "ulimit umask python pypy ipython perl ruby irb node nodejs deno bun tsx ts-node lua luajit php r rscript julia ghci runghc",
  "runhaskell tclsh wish osascript groovy scala clojure clj bb jshell java kotlin kotlinc erl elixir iex racket guile sbcl emacs",
  "emacsclient vi vim vimdiff nvim view ex ed red nano pico less more most man info pinfo awk gawk mawk nawk sed gsed dc m4",
  "make gmake bmake cmake ninja just rake task ant gradle gradlew mvn mvnw bazel buck tox nox invoke fab ansible ansible-playbook",
  "tmux screen zellij at batch crontab nc ncat netcat socat telnet ftp sqlite sqlite3 psql mysql mariadb mongosh redis-cli",
  "xdg-open open start wscript cscript mshta rundll32 ld.so ld-linux.so ld-linux-x86-64.so cc1 qemu wine rlwrap terraform vagrant"
)

export interface Options {
  /** Without their dashes. They may be shortened. */
  readonly long?: ReadonlyArray<string>
  /** Letters, on their own or among others. */
  readonly short?: string
  /** Whole words, with or without `=` and a value. */
  readonly words?: ReadonlyArray<string>
  /** What must not be found in the words, one blank between them. */
  readonly line?: RegExp
}

const tar: Options = {
  long: [
    "to-command",
    "checkpoint-action",
    "use-compress-program",
    "rsh-command",
    "info-script",
    "new-volume-script",
    "rmt-command"
  ],
  short: "IF",
  line: /^\S+ [A-Za-z]*[IF]/
}

/** What stands before the command of git: options, some with a value. */
const before = String.raw`^\S+ (?:-\S* (?:[^- ]\S* )?)*`

const git = new RegExp(
  [
    // Another configuration, another repository.
    String.raw`-[cpC]\S*(?= |$)`,
    String.raw`config(?! (?:--get|--list|-l|get|list)(?: |$))`,
    "(?:submodule|filter-branch|difftool|mergetool|daemon|send-email|instaweb|hook|svn|p4|shell|bundle|help)(?= |$)",
    String.raw`(?:credential\S*|upload-pack|receive-pack|remote-\S+|bisect run)(?= |$)`,
    "(?:archive|format-patch) (?:.* )?-o",
    "grep (?:.* )?-[A-Za-z]*O",
    "rebase (?:.* )?-[A-Za-z]*[xi]",
    String.raw`(?:.* )?[\w+-]+::\S*`
  ]
    .map((what) => before + what)
    .join("|")
)

const packages: Options = {
  long: ["script-shell", "node-options", "shell", "call", "prefix", "dir", "cwd", "config"],
  words: ["exec", "x", "dlx", "create", "init", "explore", "config", "set", "node", "c"]
}

const find: Options = {
  words: ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"]
}

const fd: Options = { long: ["exec", "exec-batch"], short: "xX" }

/** Options of programs that otherwise do what they seem to. */
export const options: Readonly<Record<string, Options>> = {
  git: {
    long: [
      "exec-path",
      "config",
      "template",
      "config-env",
      "git-dir",
      "work-tree",
      "paginate",
      "output",
      "ext-diff",
      "textconv",
      "open-files-in-pager",
      "exec",
      "extcmd",
      "upload-pack",
      "upload-archive",
      "receive-pack"
    ],
    words: ["-O"],
    line: git
  },
  find,
  gfind: find,
  fd,
  fdfind: fd,
  rg: { long: ["pre", "hostname-bin"] },
  ag: { long: ["pager"] },
  sort: { long: ["output", "compress-program"], short: "o" },
  tar,
  gtar: tar,
  bsdtar: tar,
  zip: { long: ["unzip-command"], short: "T" },
  split: { long: ["filter"] },
  rsync: { long: ["rsh", "rsync-path"], short: "e" },
  scp: { short: "SoJF" },
  sftp: { short: "SoJFDb" },
  curl: {
    long: [
      "output",
      "output-dir",
      "remote-name",
      "remote-name-all",
      "config",
      "upload-file",
      "trace",
      "trace-ascii",
      "dump-header",
      "cookie-jar",
      "libcurl",
      "stderr",
      "etag-save",
      "hsts",
      "alt-svc"
    ],
    short: "oOKDcT"
  },
  wget: {
    long: ["use-askpass", "execute", "config", "output-document", "output-file", "append-output"],
    short: "eOoa"
  },
  npm: packages,
  pnpm: packages,
  yarn: packages,
  uv: { words: ["run", "tool", "x"] },
  go: { words: ["run", "generate", "tool", "-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool"] },
  cargo: { long: ["config"], words: ["run", "r", "install"] },
  ip: { words: ["exec", "vrf", "-batch", "-b"] },
  gh: { words: ["alias", "extension", "ext", "codespace", "cs"] },
  printf: { words: ["-v"] },
  test: { words: ["-v", "-R"] },
  "[": { words: ["-v", "-R"] }
}

/** Uses of an interpreter that are known to do no more than they say. */
export const safeForms: Readonly<Record<string, RegExp>> = {
  sed: /^sed (?:-n )?(?:\d+|\$)(?:,(?:\d+|\$))?[pdq](?: [^-\s][^\n]*)?$/,
  command: /^command -[vV](?: [\w./+-]+)+$/
}
