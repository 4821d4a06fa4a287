import { optionTable, parseOptions } from '../programs/options.ts'
import type { Word } from './reading.ts'

/** Shells whose scripts are read as bash. */
export const shellNames: readonly string[] = ['sh', 'bash', 'dash', 'ash', 'ksh', 'mksh', 'zsh', 'rbash']
const SHELLS: ReadonlySet<string> = new Set(shellNames)

const POSIX_SHELLS = new Set(['sh', 'dash', 'ash'])

/** True for shells that need not know bash syntax. */
export function isPosixShell(base: string): boolean {
  return POSIX_SHELLS.has(base)
}

export function isShell(base: string): boolean {
  return SHELLS.has(base)
}

/** What a shell is asked to run. */
export type ShellInvocation =
  | { readonly kind: 'script'; readonly script: Word }
  | { readonly kind: 'file'; readonly file: Word }
  | { readonly kind: 'stdin' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unknown'; readonly reason: string }

const OPTIONS = optionTable(
  '-a -b -c -e -f -h -i -k -l -m -n -p -r -s -t -u -v -x -B -C -E -H -P -T -D -o: -O: ' +
    '--login --noprofile --norc --posix --restricted --verbose --noediting --debugger --pretty-print ' +
    '--help --version --dump-strings --dump-po-strings',
)

export function readShellInvocation(args: readonly Word[]): ShellInvocation {
  // `+x` switches an option off, which for our purpose is the same as `-x`.
  const plain = args.map((arg) => (/^\+[a-zA-Z]+$/.test(arg.text) ? { ...arg, text: `-${arg.text.slice(1)}` } : arg))
  const parsed = parseOptions(plain, OPTIONS, true)
  if (!parsed.ok) return { kind: 'unknown', reason: parsed.reason }
  const flags = new Set(parsed.given.map((option) => option.name))
  if (flags.has('--help') || flags.has('--version')) return { kind: 'nothing' }
  const first = parsed.operands[0]
  // The dash ends the options, and the shell then reads its input: `curl … | bash -`.
  if (first?.text === '-') return { kind: 'unknown', reason: 'a dash stands where its script should' }
  if (flags.has('-c')) {
    if (first === undefined) return { kind: 'unknown', reason: 'the script is missing' }
    return { kind: 'script', script: first }
  }
  return first === undefined || flags.has('-s') ? { kind: 'stdin' } : { kind: 'file', file: first }
}
