import { EvenerError } from '@evener/protocol'

/** What callers without types may give as well. Said by its name, before anything is done with it. */
export function givenText(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw invalid(field, value, 'a text that is not empty')
}

export function givenOneOf<Name extends string>(value: unknown, field: string, names: readonly Name[]): Name {
  const name = names.find((each) => each === value)
  if (name !== undefined) return name
  throw invalid(field, value, `one of ${names.join(', ')}`)
}

export function givenFlag(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value
  throw invalid(field, value, 'true or false')
}

function invalid(field: string, value: unknown, wanted: string): EvenerError {
  const given = value === undefined ? 'missing' : (JSON.stringify(value) ?? typeof value)
  return new EvenerError('invalid-input', `\`${field}\` must be ${wanted}; it is ${given}.`, { details: { field } })
}
