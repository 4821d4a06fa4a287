/** Which test files a system leaves out, and why. Linux leaves out none. */

interface Rule {
  readonly why: string
  /** What a test file, or a helper that it imports, contains. */
  readonly contains?: RegExp
  /** Where it is. */
  readonly path?: RegExp
}

const NEEDS_LINUX: readonly Rule[] = [
  { why: 'reads /proc', contains: /['"`]\/proc\b/ },
  { why: 'uses a file of Linux in /dev', contains: /['"`]\/dev\/(?:full|shm)\b/ },
  { why: 'uses the bubblewrap sandbox', contains: /\bbwrap\b|bubblewrap/ },
  { why: 'uses a program of util-linux', contains: /\b(?:setsid|unshare|prlimit)\b/ },
  { why: 'checks that whole process trees are ended, which only Linux can do', path: /^packages\/shell\/src\/run\// },
]

const NEEDS_POSIX: readonly Rule[] = [
  { why: 'runs /bin/sh or a script with a #! line', contains: /\/bin\/(?:ba)?sh\b|#!\// },
  { why: 'uses file modes, user ids or named pipes', contains: /\bchmod\b|\bmode: 0o|getuid|setuid|mkfifo/ },
  { why: 'sends signals', contains: /\bSIG(?:KILL|TERM|INT|STOP|CONT)\b/ },
  { why: 'uses symbolic links', contains: /\bsymlink(?:Sync)?\(/ },
  { why: 'compares paths that begin with a slash', path: /^packages\/(?:adapters|core\/src\/policy|shell|tools)\// },
  { why: 'runs the command line in a terminal or a shell', path: /^packages\/inspan\// },
  { why: 'starts a coding agent, which its adapter runs through a shell', path: /^packages\/(?:sdk|server)\// },
  { why: 'checks the repository itself, which needs no second system', path: /^scripts\// },
]

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  darwin: NEEDS_LINUX,
  win32: [...NEEDS_LINUX, ...NEEDS_POSIX],
}

/** Returns why a system cannot run a test file. `text` is the file with the helpers it imports. */
export function whyLeftOut(platform: string, file: string, text: string): string | undefined {
  const path = file.replaceAll('\\', '/')
  return RULES[platform]?.find(
    (rule) => rule.contains?.test(text) === true || (rule.path?.test(path) === true && rule.contains === undefined),
  )?.why
}
