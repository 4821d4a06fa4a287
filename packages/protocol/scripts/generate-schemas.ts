/**
 * Writes the published JSON Schema files. With `--check` it writes nothing and fails when a file is missing, outdated or
 * left over.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { jsonSchemaFile, jsonSchemaOf, PUBLISHED } from '../src/schema/json-schema.ts'

const folder = new URL('../schemas/', import.meta.url)

const wanted = new Map(
  PUBLISHED.map((name) => [jsonSchemaFile(name), `${JSON.stringify(jsonSchemaOf(name), null, 2)}\n`]),
)
await mkdir(folder, { recursive: true })
const present = await readdir(folder)

const leftOver = present.filter((file) => !wanted.has(file))
const outdated: string[] = []
for (const [file, text] of wanted) {
  if (!present.includes(file) || (await readFile(new URL(file, folder), 'utf8')) !== text) outdated.push(file)
}

if (process.argv.includes('--check')) {
  if (leftOver.length + outdated.length > 0) {
    console.error(`Not up to date: ${[...outdated, ...leftOver].join(', ')}`)
    console.error('Run: node packages/protocol/scripts/generate-schemas.ts')
    process.exitCode = 1
  }
} else {
  for (const file of leftOver) await rm(new URL(file, folder))
  for (const file of outdated) await writeFile(new URL(file, folder), wanted.get(file) ?? '')
  console.log(`${outdated.length} written, ${leftOver.length} removed, ${wanted.size} in all`)
}
