import { InspanError } from '@inspan/protocol'
import type { Fence, Owner } from '@inspan/protocol/store'

export function noSuchStream(stream: string): InspanError {
  return new InspanError('not-found', `There is no thread or session ${stream}.`, { details: { stream } })
}

export function streamExists(stream: string): InspanError {
  return new InspanError('already-exists', `There is a thread or session ${stream} already.`, { details: { stream } })
}

export function fenced(
  stream: string,
  fence: Fence,
  now: { owner: string | null; epoch: number },
  holder: Owner | null,
): InspanError {
  const who = now.owner === null ? 'nobody' : now.owner === fence.owner ? 'us, but under a newer claim' : now.owner
  return new InspanError('fenced', `Nothing was written to ${stream}: it is no longer ours. It is held by ${who}.`, {
    hint: 'Claim it again before writing.',
    details: { stream, owner: now.owner, epoch: now.epoch, holder, fence },
  })
}

export function parentGone(stream: string, range: { stream: string; from: number; to: number }): InspanError {
  return new InspanError(
    'not-found',
    `${stream} cannot go on from ${range.stream} ${range.from}–${range.to}: that part has been deleted.`,
    { details: { stream, range } },
  )
}

export function commandSettled(commandId: string): InspanError {
  return new InspanError('conflict', `Command ${commandId} was carried out already: nothing was written.`, {
    hint: 'Send its recorded outcome instead of doing it again.',
    details: { commandId },
  })
}

export function noSuchCommand(commandId: string): InspanError {
  return new InspanError('not-found', `Command ${commandId} was never admitted, or has been pruned.`, {
    details: { commandId },
  })
}

export function noSuchBlob(hash: string): InspanError {
  return new InspanError('not-found', `Blob ${hash} is not in the store.`, {
    hint: 'Pass its bytes with the first record that refers to it.',
    details: { hash },
  })
}

export function storeClosed(): InspanError {
  return new InspanError('closed', 'The store is closed.', { hint: 'Open a new one.' })
}

export function notYetOpened(): InspanError {
  return new InspanError('misuse', 'The epoch of a store is known once it has been opened.', {
    hint: 'Call `open()` first.',
  })
}
