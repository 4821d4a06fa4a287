import { scriptedModel } from '@inspan/testing'
import { testDriver } from '@inspan/testing/contracts'
import { nativeDriver } from './native-driver.ts'

const SCRIPTS = {
  answers: [{ text: 'Here I am.' }, { text: 'Still here.' }],
  hangs: [{ text: 'Well', hang: true }],
  fails: [{ error: { status: 401 } }],
} as const

testDriver({
  name: 'our own loop',
  open: async (behaviour) => ({ driver: nativeDriver({ id: 'own', model: scriptedModel([...SCRIPTS[behaviour]]) }) }),
})
