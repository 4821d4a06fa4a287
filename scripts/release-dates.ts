/**
 * Records when every version in the lock file was published, so that a test without a network can check the cooldown of
 * the lock file. Run `node scripts/release-dates.ts` after a change of the lock file.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lockedVersions, type LockFile } from './hygiene/lock-file.ts'
import { run } from './pack-test/run.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const file = join(root, 'scripts/release-dates.json')
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile
const known = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>

const dates: [string, string][] = []
for (const { name, version } of lockedVersions(lock)) {
  dates.push([`${name}@${version}`, known[`${name}@${version}`] ?? (await publishedOn(name, version))])
}
writeFileSync(file, `${JSON.stringify(Object.fromEntries(dates.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`)
console.log(`${dates.length} versions`)

async function publishedOn(name: string, version: string): Promise<string> {
  const stdout = await run('npm', ['view', name, 'time', '--json'], { cwd: root })
  const time = (JSON.parse(stdout) as Record<string, string>)[version]
  if (time === undefined) throw new Error(`${name}@${version} was never published.`)
  return time.slice(0, 10)
}
