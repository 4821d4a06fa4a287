import { InspanError } from '@inspan/protocol'

export function loadFailure(name: string, cause: unknown): InspanError {
  return new InspanError('unsupported', `The package "${name}" could not be loaded.`, {
    hint: 'Install the dependencies of @inspan/tools again.',
    cause,
  })
}
