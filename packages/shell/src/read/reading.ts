/** What the shell still does to a word before the program gets it. */
export type Expansion = 'parameter' | 'command' | 'arithmetic' | 'process' | 'glob' | 'brace' | 'tilde' | 'locale'

export interface Word {
  /** The text without quotes and escapes. Expansions are kept as written. */
  readonly text: string
  readonly source: string
  readonly quoted: boolean
  readonly expansions: readonly Expansion[]
  /** The program does not receive exactly `text`. */
  readonly dynamic: boolean
  readonly glob: boolean
  /** May become no word or several: an unquoted expansion, a pattern, `"$@"`. */
  readonly splits: boolean
}

export interface Assignment {
  readonly name: string
  readonly value: Word
}

export type RedirectionKind = 'read' | 'write' | 'append' | 'read-write' | 'duplicate' | 'here-document' | 'here-string'

export interface Redirection {
  readonly kind: RedirectionKind
  /** Null for both outputs (`&>`) or when the shell chooses (`{fd}>`). */
  readonly fd: number | null
  readonly target: Word | null
  /** The text of a here-document or here-string, when nothing in it is expanded. */
  readonly body: string | null
}

/** Where a command comes from: directly from the text, or through `parent`. */
export type Origin = 'text' | 'script' | 'argument' | 'substitution' | 'process-substitution'

export type Nesting = 'subshell' | 'group' | 'condition' | 'branch' | 'loop' | 'function' | 'coprocess'

/** The operator before a pipeline; a newline counts as `;`. */
export type Joiner = '&&' | '||' | ';' | '&'

/**
 * A program that runs another one, which then is in `commands` too.
 * transparent: unchanged (env, timeout, nice) · elevated: as another user · elsewhere: in another root or namespace ·
 * items: with arguments from run time (xargs, find -exec) · runner: found by a package tool · tool: watched, limited
 * or confined (valgrind, prlimit, bwrap) · shell: from a script text
 */
export type Launcher = 'transparent' | 'elevated' | 'elsewhere' | 'items' | 'runner' | 'tool' | 'shell'

export interface Span {
  readonly start: number
  readonly end: number
}

/** One program that runs. Wrapped and nested ones have entries of their own, after the entry of what runs them. */
export interface SimpleCommand {
  readonly index: number
  /** Null when the command only assigns or redirects. */
  readonly name: Word | null
  /** The name, if it is found by PATH or in a system directory: `./git` is not `git`. */
  readonly program: string | null
  readonly args: readonly Word[]
  readonly assignments: readonly Assignment[]
  readonly redirections: readonly Redirection[]
  readonly parent: number | null
  readonly origin: Origin
  /** The compound commands around it, outermost first, up to its origin. */
  readonly nesting: readonly Nesting[]
  /** The wrappers around it, outermost first. */
  readonly wrappers: readonly string[]
  /** The stages of one pipeline share this number. */
  readonly pipeline: number
  readonly stage: number
  readonly stages: number
  readonly joined: Joiner | null
  readonly negated: boolean
  readonly background: boolean
  readonly launcher: Launcher | null
  /** Code that is not read: a script on standard input, a file, or program text in another language. */
  readonly runs: 'stdin-script' | 'file' | 'inline-code' | null
  /** Why this command may run or change more than it says. */
  readonly unknown: string | null
  /** Further arguments are added at run time. */
  readonly appended: boolean
  /** Absolute, or relative to the directory of the reading ('.'); null when not known. Links are not resolved. */
  readonly cwd: string | null
  /** `cwd` is only right if an earlier `cd` succeeded, which nothing here ensures. */
  readonly cwdAssumed: boolean
  readonly source: string
  /** The position in the text that was read; null inside scripts that are arguments themselves. */
  readonly span: Span | null
}

export type ShellReading =
  | {
      readonly ok: true
      readonly commands: readonly SimpleCommand[]
      /** Characters and constructs that make the text differ from what it looks like. */
      readonly suspicious: readonly string[]
    }
  | { readonly ok: false; readonly reason: string }

export interface ReadOptions {
  /** The directory the command would run in. */
  readonly cwd?: string
  /** The shell that would run it. A plain `sh` reads some bash syntax differently; such texts are refused for it. */
  readonly shell?: 'bash' | 'sh'
}
