/** Variables that decide which programs or settings are used. */
const DECIDING =
  '(?:PATH|HOME|IFS|ENV|CDPATH|SHELL|PWD|BASH_\\w+|LD_\\w+|DYLD_\\w+|GIT_\\w+|\\w*PAGER|\\w*EDITOR|VISUAL|BROWSER|LESS\\w*|NODE_\\w+|PYTHON\\w*|PERL\\w*|RUBY\\w*|JAVA_\\w+|XDG_\\w+|NPM_\\w+|npm_\\w+|MAKEFLAGS|GOFLAGS|RUST\\w*|CARGO\\w*|\\w+_proxy|\\w+_PROXY|PS4|PROMPT_COMMAND|SSH_\\w+|SUDO_\\w+|TAR_OPTIONS|RIPGREP\\w*)'
const IS_DECIDING = new RegExp(`^${DECIDING}$`)

/** True for a variable that decides which programs run, which settings count, or where something is written. */
export function isDecidingVariable(name: string): boolean {
  return IS_DECIDING.test(name)
}
