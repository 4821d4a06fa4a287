/** Installs a CLI in its pinned version if necessary and prints its path, for tests outside this package. */
import { harnesses } from '../harnesses.ts'
import { installedCli } from './clis.ts'

const [id] = process.argv.slice(2)
const harness = harnesses.find(({ profile }) => profile.id === id)
if (harness === undefined) throw new Error(`There is no harness "${id}".`)
console.log(await installedCli(harness.profile))
