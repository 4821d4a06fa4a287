import { InspanError } from '@inspan/protocol'

export function noSuchDoor(stream: string, door: string | undefined): InspanError {
  return new InspanError('not-found', `"${door ?? ''}" does not have thread ${stream} open in this process.`, {
    hint: 'Open the thread with it first.',
    details: { stream, door: door ?? null },
  })
}
