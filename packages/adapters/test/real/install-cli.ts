/** Installs a CLI in its pinned version if necessary and prints its path, for tests outside this package. */
import { clis } from '../../src/clis.ts'
import { ACP_CLIS } from './acp-clis.ts'
import { ACPX } from './acpx.ts'
import { installedCli } from './clis.ts'

const [id] = process.argv.slice(2)
const profile = [...clis.map((cli) => cli.profile), ACPX, ...ACP_CLIS].find((each) => each.id === id)
if (profile === undefined) throw new Error(`There is no program "${id}".`)
console.log(await installedCli(profile))
