import type { Assignment, Word } from './reading.ts'

/** Variables that decide which program or code runs, whatever the command says. */
const DECIDING =
  /^(?:PATH|IFS|ENV|CDPATH|BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|LD_.*|DYLD_.*|GCONV_PATH|GIT_(?:SSH|SSH_COMMAND|EXTERNAL_DIFF|ASKPASS|EXEC_PATH|CONFIG.*|PROXY_COMMAND|DIR|TEMPLATE_DIR|SEQUENCE_EDITOR)|LESSOPEN|LESSCLOSE|RIPGREP_CONFIG_PATH|PERL5OPT|PERL5DB|RUBYOPT|PYTHONSTARTUP|PYTHONINSPECT|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|TAR_OPTIONS|SSH_ASKPASS|SUDO_ASKPASS|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|RUSTC|CARGO_BUILD_RUSTC.*|CARGO_TARGET_.*_(?:RUNNER|LINKER)|SVN_SSH|JDK_JAVA_OPTIONS|DOTNET_STARTUP_HOOKS|VIMINIT|GVIMINIT|EXINIT|LUA_INIT.*|MAKEFILES|RSYNC_RSH|CVS_RSH|ZDOTDIR|SHELL|PSQLRC|OPENSSL_CONF|(?:npm_config|NPM_CONFIG)_(?:script_shell|SCRIPT_SHELL|node_options|NODE_OPTIONS))$/
const NAMES_A_PROGRAM = /^(?:.*PAGER|.*EDITOR|VISUAL|BROWSER)$/
const HARMLESS_PROGRAM = /^(?:cat|true|:|)$/
const LOADS_CODE = /(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)\b/

/** Variables with which only some values run something. */
const RUNS_BY_VALUE: ReadonlyMap<string, RegExp> = new Map([
  ['LESS', /\+/],
  ['MAKEFLAGS', /eval|SHELL|=|f/],
  ['GNUMAKEFLAGS', /eval|SHELL|=|f/],
  ['GOFLAGS', /exec/],
])

export function unknownFromAssignments(assignments: readonly Assignment[], program?: string): string | null {
  for (const { name, value } of assignments) {
    // `IFS= read -r line` only says how the line is split.
    if (program === 'read' && name === 'IFS') continue
    const decides =
      DECIDING.test(name) ||
      (NAMES_A_PROGRAM.test(name) && (value.dynamic || !HARMLESS_PROGRAM.test(value.text))) ||
      (name === 'NODE_OPTIONS' && (value.dynamic || LOADS_CODE.test(value.text))) ||
      (RUNS_BY_VALUE.has(name) && (value.dynamic || RUNS_BY_VALUE.get(name)?.test(value.text) === true))
    if (decides) return `${name} decides which program or code runs`
  }
  return null
}

/** A value that only exists when the command runs. */
export const MADE_LATER: Word = {
  text: '',
  source: '',
  quoted: false,
  expansions: ['parameter'],
  dynamic: true,
  glob: false,
  splits: false,
}

/** True if the variable can decide which program or code runs, for any value. */
export function decidesWhatRuns(name: string): boolean {
  return unknownFromAssignments([{ name, value: MADE_LATER }]) !== null
}
