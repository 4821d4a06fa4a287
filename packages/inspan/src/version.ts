import { existsSync, readFileSync } from 'node:fs'
import { InspanError } from '@inspan/protocol'

let known: string | undefined

export function version(): string {
  return (known ??= readVersion())
}

/** package.json is above the sources, and above the built files, which may be a folder deeper. */
function readVersion(): string {
  const places = ['../package.json', '../../package.json'].map((path) => new URL(path, import.meta.url))
  const manifest = places.find((place) => existsSync(place))
  if (manifest === undefined) throw new InspanError('not-found', 'The package.json of inspan is missing.')
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}
