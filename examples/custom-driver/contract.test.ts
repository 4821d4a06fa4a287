/** The suite that every driver has to pass. Run it with `node --test`. */
import { testDriver } from '@inspan/testing/contracts'
import { parrot } from './parrot.ts'

const MOODS = { answers: 'content', hangs: 'endless', fails: 'broken' } as const

testDriver({ name: 'the parrot', open: async (behaviour) => ({ driver: parrot({ mood: MOODS[behaviour] }) }) })
