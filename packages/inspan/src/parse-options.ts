import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { didYouMean } from '@inspan/protocol/internal'
import { UsageError } from './command.ts'

type Parsed<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true; strict: true }>
>

/** Like `parseArgs` of Node, but says which option was probably meant. */
export function parseOptions<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
): Parsed<Options> {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, strict: true, options })
  } catch (error) {
    const name = error instanceof Error ? /^Unknown option '(-+[^']*)'/.exec(error.message)?.[1] : undefined
    if (name === undefined) throw error
    const known = Object.keys(options).map((option) => `--${option}`)
    throw new UsageError(`there is no option ${name}. ${didYouMean(name, known)}`)
  }
}

/** For commands that take options only. */
export function parseOnlyOptions<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
): Parsed<Options>['values'] {
  const { positionals, values } = parseOptions(args, options)
  const [extra] = positionals
  if (extra !== undefined) throw new UsageError(`"${extra}" is not understood here`)
  return values
}
