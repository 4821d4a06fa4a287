import { optionTable } from '../programs/options.ts'
import type { OptionTable } from '../programs/options.ts'
import type { Launcher } from './reading.ts'

/** A program whose operands are another command. */
export interface Wrapper {
  readonly options: OptionTable
  readonly launcher: Launcher
  /** How many operands come before the command, such as the duration of `timeout`. */
  readonly operands: number
  /** `NAME=value` may come before the command. */
  readonly assignments: boolean
  /** Options with which it only reports something. */
  readonly reports: readonly string[]
  /** Options that name the directory to run in. */
  readonly directory: readonly string[]
  /** The command runs in an unknown directory. */
  readonly moves: boolean
  /** Every word with a leading dash is an option, with its value attached. */
  readonly anyOptions: boolean
}

interface Settings {
  readonly anyOptions?: boolean
  readonly launcher?: Launcher
  readonly operands?: number
  readonly assignments?: boolean
  readonly reports?: readonly string[]
  readonly directory?: readonly string[]
  readonly moves?: boolean
  readonly digits?: boolean
}

export function wrapper(options: string, settings: Settings = {}): Wrapper {
  return {
    options: optionTable(`${options} --help --version`, { digits: settings.digits === true }),
    launcher: settings.launcher ?? 'transparent',
    operands: settings.operands ?? 0,
    assignments: settings.assignments === true,
    reports: [...(settings.reports ?? []), '--help', '--version'],
    directory: settings.directory ?? [],
    moves: settings.moves === true,
    anyOptions: settings.anyOptions === true,
  }
}
