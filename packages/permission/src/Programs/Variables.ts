/**
 * Variables that change nothing about which programs run. Any other may: `PATH`, `LD_PRELOAD`, `GIT_SSH_COMMAND`, `BASH_ENV`, `IFS`,
 * `PAGER`, `NODE_OPTIONS`, and thousands that nobody has listed. So this names what is fine, and the rest is not.
 */

const harmless =
  /^(?:CI|LANG|LANGUAGE|LC_\w+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|DEBUG|NODE_ENV|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE)$/

/** In the environment of a command. */
export const isHarmless = (name: string): boolean => harmless.test(name)

/** As a variable of the shell: environments hardly use lower-case names, with exceptions. */
export const isLocal = (name: string): boolean =>
  isHarmless(name) || (/^[a-z][a-z0-9_]*$/.test(name) && !/_proxy$|^npm_/.test(name))
