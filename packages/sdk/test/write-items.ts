/** Writes `docs/internals/sdk-items.md`: `node packages/sdk/test/write-items.ts`. */
import { writeFileSync } from 'node:fs'
import { itemsPage } from './items.ts'

writeFileSync(new URL('../../../docs/internals/sdk-items.md', import.meta.url), itemsPage())
