import { tableOf } from '../../programs/harmless-options.ts'
import { parseOptions } from '../../programs/options.ts'
import type { OptionTable } from '../../programs/options.ts'
import type { Invocation } from './invocation.ts'
import type { FileOperation } from './operations.ts'
import { listOperations } from './searches.ts'

// -T, -w and -D take a value in GNU ls and none on macOS: they are in no table.
const LS = tableOf('ls')

const TREE = tableOf('tree')

const EZA = tableOf('eza')

const LISTERS: ReadonlyMap<string, OptionTable> = new Map([
  ['ls', LS],
  ['gls', LS],
  ['dir', LS],
  ['vdir', LS],
  ['tree', TREE],
  ['eza', EZA],
  ['exa', EZA],
  ['lsd', EZA],
])

export const listerNames: readonly string[] = [...LISTERS.keys()]

export function listFiles(invocation: Invocation): FileOperation[] | null {
  const table = LISTERS.get(invocation.program.name)
  const parsed = table === undefined ? undefined : parseOptions(invocation.args, table)
  return parsed?.ok === true ? listOperations(parsed.operands, invocation) : null
}
