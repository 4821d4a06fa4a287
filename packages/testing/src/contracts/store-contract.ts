import { describe } from 'node:test'
import { appendsContract } from './appends.ts'
import { blobsContract } from './blobs.ts'
import { commandsContract } from './commands.ts'
import { deletionsContract } from './deletions.ts'
import { durabilityContract } from './durability.ts'
import { erasuresContract } from './erasures.ts'
import { olderRecordsContract } from './older-records.ts'
import { ownershipContract } from './ownership.ts'
import { readsContract } from './reads.ts'
import { sealsContract } from './seals.ts'
import { streamsContract } from './streams.ts'
import type { StoreContract } from './subject.ts'
import { threadsContract } from './threads.ts'
import { waitsContract } from './waits.ts'

/** Registers the tests that every store has to pass. */
export function storeContract(contract: StoreContract): void {
  describe(contract.name, () => {
    streamsContract(contract)
    appendsContract(contract)
    sealsContract(contract)
    readsContract(contract)
    olderRecordsContract(contract)
    threadsContract(contract)
    waitsContract(contract)
    blobsContract(contract)
    erasuresContract(contract)
    deletionsContract(contract)
    commandsContract(contract)
    ownershipContract(contract)
    if (contract.isDurable === true) durabilityContract(contract)
  })
}
