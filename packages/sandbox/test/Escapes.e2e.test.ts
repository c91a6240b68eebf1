// Attempts to get out of the sandbox, under the real bubblewrap: each has to leave the world as it was.
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { canConfine, confined, sh, world } from "./support.ts"
import type { World } from "./support.ts"

type Row = readonly [what: string, command: (world: World) => string]

/** None of these may change anything outside of the workspace, or show what is hidden. */
const escapes: ReadonlyArray<Row> = [
  ["a file outside", ({ outside }) => `echo x > ${outside}/file.txt`],
  ["a new file outside", ({ outside }) => `echo x > ${outside}/new.txt`],
  ["deleting a file outside", ({ outside }) => `rm -f ${outside}/file.txt`],
  ["the parent of the workspace", ({ root }) => `rm -rf ${root}/outside; touch ${root}/new.txt`],
  ["`..`", () => "echo x > ../outside/file.txt; touch ../outside/new.txt"],
  ["a symbolic link", ({ outside }) => `ln -s ${outside} out; echo x > out/file.txt; touch out/new.txt`],
  ["a link to a link", ({ outside }) => `ln -s ${outside} one; ln -s one two; touch two/new.txt`],
  ["a dangling link", ({ outside }) => `ln -s ${outside}/new.txt dangling; echo x > dangling`],
  ["a hard link", ({ outside }) => `ln ${outside}/file.txt hard && echo x > hard`],
  ["moving the workspace's folder away", ({ root }) => `cd /; mv ${root}/ws ${root}/other`],
  ["`/proc/self/root`", ({ outside }) => `echo x > /proc/self/root${outside}/file.txt`],
  ["`/proc/1/root`", ({ outside }) => `echo x > /proc/1/root${outside}/file.txt`],
  ["`/proc/self/cwd/..`", () => "echo x > /proc/self/cwd/../outside/file.txt"],
  [
    "a file descriptor of the harness",
    ({ outside }) => `for f in /proc/*/fd/*; do echo x > "$f/../outside/file.txt"; done; touch ${outside}/new.txt`
  ],
  ["a bind mount", ({ outside }) => `mkdir m; mount --bind ${outside} m && echo x > m/file.txt`],
  [
    "remounting",
    ({ outside }) => `mount -o remount,rw / ; mount -o remount,rw,bind ${outside}; echo x > ${outside}/file.txt`
  ],
  [
    "unmounting",
    ({ workspace }) =>
      `umount -l ${workspace}/.git/hooks; umount ${workspace}; umount -l /tmp; touch .git/hooks/pre-commit`
  ],
  [
    "a user namespace",
    ({ outside }) =>
      `unshare -Urm sh -c 'mount -o remount,rw,bind / ; mount -o remount,rw,bind ${outside}; echo x > ${outside}/file.txt'`
  ],
  ["chroot", ({ outside }) => `chroot / sh -c 'echo x > ${outside}/file.txt'`],
  [
    "a device",
    () => "mknod dev b 8 0; mknod sda b 259 0; dd if=/dev/zero of=dev count=1; ls /dev/sd* /dev/nvme* && echo LEAK"
  ],
  [
    "setuid",
    ({ outside }) =>
      `cp /bin/sh suid; chmod u+s suid; ./suid -p -c 'echo x > ${outside}/file.txt'; sudo -n touch ${outside}/new.txt; su -c 'touch ${outside}/new.txt'`
  ],
  ["the hooks of git", () => "printf '#!/bin/sh' > .git/hooks/pre-commit"],
  ["the hooks of git, moved", () => "mv .git .old && mkdir -p .git/hooks && touch .git/hooks/pre-commit"],
  ["the configuration of git", () => "printf '[core]\\nfsmonitor=evil' >> .git/config; git config core.hooksPath x"],
  ["the credentials", ({ home }) => `cat ${home}/.credentials.yaml; cp ${home}/.credentials.yaml stolen; cat stolen`],
  [
    "the credentials by a link",
    ({ home }) => `ln -s ${home}/.credentials.yaml c; cat c; cat /proc/self/root${home}/.credentials.yaml`
  ],
  ["the credentials by grep", ({ home }) => `grep -r secret ${home}; find ${home} -name '.cred*' -exec cat {} +`],
  ["replacing the credentials", ({ home }) => `rm -f ${home}/.credentials.yaml; echo x > ${home}/.credentials.yaml`],
  [
    "the logs of other sessions",
    ({ home }) => `cat ${home}/sessions/other/session.jsonl; grep -r 'other' ${home}/sessions`
  ],
  ["changing its own log", ({ home }) => `echo x >> ${home}/sessions/mine/session.jsonl`],
  ["the environment of the harness", () => "cat /proc/*/environ | tr '\\0' '\\n' | grep SANDBOX_TEST_SECRET"],
  ["killing the harness", () => `kill -9 ${process.pid}; kill -0 ${process.pid} && echo LEAK`],
  [
    "the memory of the harness",
    () => `cat /proc/${process.pid}/maps && echo LEAK; dd if=/proc/${process.pid}/mem count=1 && echo LEAK`
  ],
  ["sockets of services", () => "find /run /var/run -type s | grep . && echo LEAK"],
  [
    "files of the system",
    () => "touch /etc/dsh-escape /usr/dsh-escape /var/dsh-escape /home/dsh-escape /sys/dsh-escape"
  ],
  ["sysctl", () => "echo 1 > /proc/sys/kernel/panic && echo LEAK"],
  ["the host name", () => "hostname escaped && echo LEAK"]
]

describe.skipIf(!canConfine)(
  `the sandbox, under bubblewrap${canConfine ? "" : ": skipped, bubblewrap is not there"}`,
  () => {
    const places = ["temp", "beside"] as const
    for (const place of places) {
      describe(`with everything ${place === "temp" ? "below /tmp" : "beside it"}`, () => {
        for (const mode of ["workspace-write", "read-only"] as const) {
          for (const [what, command] of escapes) {
            it.live(`${mode} withstands ${what}`, () =>
              Effect.gen(function* () {
                process.env["SANDBOX_TEST_SECRET"] = "sk-secret-0123456789"
                const made = yield* world({ mode }, place)
                const { home, outside, workspace } = made
                const { stdout } = yield* sh(command(made), made.confinement)
                assert.strictEqual(readFileSync(join(outside, "file.txt"), "utf8"), "theirs\n")
                assert.isFalse(existsSync(join(outside, "new.txt")), "a file was made outside")
                assert.isFalse(existsSync(join(made.root, "new.txt")), "a file was made outside")
                assert.isTrue(existsSync(join(workspace, "file.txt")), "the workspace is gone")
                assert.isFalse(existsSync(join(workspace, ".git/hooks/pre-commit")), "a hook was planted")
                assert.strictEqual(readFileSync(join(workspace, ".git/config"), "utf8"), "[core]\n")
                assert.include(readFileSync(join(home, ".credentials.yaml"), "utf8"), "sk-secret")
                assert.strictEqual(readFileSync(join(home, "sessions/mine/session.jsonl"), "utf8"), "my log\n")
                assert.notMatch(stdout, /sk-secret|other log|LEAK/)
                for (const folder of ["/etc", "/usr", "/var", "/home"])
                  assert.isFalse(existsSync(`${folder}/dsh-escape`))
              }).pipe(Effect.scoped, Effect.provide(confined))
            )
          }
        }
      })
    }

    it.live("read-only changes nothing in the workspace either", () =>
      Effect.gen(function* () {
        const { confinement, workspace } = yield* world({ mode: "read-only" })
        const { exitCode, stderr } = yield* sh("echo x > file.txt", confinement)
        assert.strictEqual(exitCode, 1)
        assert.match(stderr, /Read-only file system/)
        assert.strictEqual(readFileSync(join(workspace, "file.txt"), "utf8"), "mine\n")
      }).pipe(Effect.scoped, Effect.provide(confined))
    )

    for (const place of places) {
      it.live(`what is hidden in a workspace in the ${place} folder is not to be seen`, () =>
        Effect.gen(function* () {
          const { confinement, workspace } = yield* world({}, place)
          const hidden = [join(workspace, "vault")]
          mkdirSync(join(workspace, "vault"))
          writeFileSync(join(workspace, "vault/key"), "sk-secret")
          const { stdout } = yield* sh("cat vault/key; ls vault; cat file.txt", { ...confinement, hidden })
          assert.strictEqual(stdout, "mine\n")
        }).pipe(Effect.scoped, Effect.provide(confined))
      )
    }

    it.live("what is allowed works: the workspace, a /tmp that stays, reading, its own log, git, programs", () =>
      Effect.gen(function* () {
        const { confinement, home, workspace } = yield* world()
        const made = yield* sh(
          "echo y > file.txt && mkdir -p a/b && echo z > a/b/c && echo t > /tmp/kept && echo $TMPDIR",
          confinement
        )
        assert.deepStrictEqual([made.exitCode, made.stdout, made.stderr], [0, "/tmp\n", ""])
        assert.strictEqual(readFileSync(join(workspace, "a/b/c"), "utf8"), "z\n")
        const kept = yield* sh(`cat /tmp/kept ${home}/sessions/mine/session.jsonl; cat <<< here; mktemp`, confinement)
        assert.match(kept.stdout, /^t\nmy log\nhere\n\/tmp\/tmp\./)
        assert.strictEqual(readFileSync(join(confinement.temp, "kept"), "utf8"), "t\n")
        const node = yield* sh(
          `${process.execPath} -e 'console.log(1 + 1)'; echo lost > /dev/null; ps aux | wc -l`,
          confinement
        )
        assert.match(node.stdout, /^2\n[1-6]\n$/)
      }).pipe(Effect.scoped, Effect.provide(confined))
    )

    it.live("the network is there or not", () =>
      Effect.gen(function* () {
        const server = yield* Effect.acquireRelease(
          Effect.async<ReturnType<typeof createServer>>((resume) => {
            const listening = createServer((socket) => socket.end("hello\n"))
            listening.listen(0, "127.0.0.1", () => resume(Effect.succeed(listening)))
          }),
          (listening) => Effect.async<void>((resume) => void listening.close(() => resume(Effect.void)))
        )
        const { port } = server.address() as AddressInfo
        const command = `cat < /dev/tcp/127.0.0.1/${port}`
        const { confinement } = yield* world()
        assert.strictEqual((yield* sh(command, confinement)).stdout, "hello\n")
        const off = yield* sh(command, { ...confinement, network: "off" })
        assert.deepStrictEqual([off.exitCode, off.stdout], [1, ""])
      }).pipe(Effect.scoped, Effect.provide(confined))
    )

    it.live("nothing that a command started lives on, in whatever session", () =>
      Effect.gen(function* () {
        const { confinement, workspace } = yield* world()
        yield* sh(`setsid bash -c 'sleep 1; touch alive; sleep 60${process.pid}' & sleep 0.1`, confinement)
        const left = sh(`ps -eo args | grep '[s]leep 60${process.pid}'`, { ...confinement, mode: "danger-full-access" })
        yield* left.pipe(
          Effect.repeat({ until: ({ stdout }) => stdout === "", schedule: Schedule.spaced("50 millis") })
        )
        assert.isFalse(existsSync(join(workspace, "alive")))
      }).pipe(Effect.scoped, Effect.provide(confined))
    )
  }
)
