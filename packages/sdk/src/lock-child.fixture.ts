/** Takes the lock of every folder that it reads from its input, and prints whether it got it. Holds what it got. */
import { createInterface } from 'node:readline'
import { RootLock } from './root-lock.ts'

console.log('ready')
for await (const folder of createInterface({ input: process.stdin })) {
  const outcome = await RootLock.take(folder).then(
    () => 'taken',
    (error: unknown) => (error instanceof Error && 'type' in error ? String(error.type) : String(error)),
  )
  console.log(outcome)
}
