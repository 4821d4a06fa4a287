/**
 * Compares the tables of docs/guide/agents.md with what a run of all suites has shown, or writes them.
 *
 *     node agents-doc.ts check|write FOLDER-WITH-PROOFS FILE
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { abilitiesTables } from './abilities-table.ts'
import type { Proof } from './proofs.ts'

const BEGIN = '<!-- written by npm run test:real -- --table -->'
const END = '<!-- end -->'

const [task, folder, file] = process.argv.slice(2)
if ((task !== 'check' && task !== 'write') || folder === undefined || file === undefined) {
  console.error('Usage: agents-doc.ts check|write FOLDER-WITH-PROOFS FILE')
  process.exit(2)
}

const text = await readFile(file, 'utf8')
const begin = text.indexOf(BEGIN)
const end = text.indexOf(END)
if (begin === -1 || end < begin) {
  console.error(`${file} has no place for the tables, between "${BEGIN}" and "${END}".`)
  process.exit(1)
}
const tables = abilitiesTables(await readProofs(folder))
const wanted = `${text.slice(0, begin + BEGIN.length)}\n\n${tables}\n${text.slice(end)}`
if (task === 'write') await writeFile(file, wanted)
else if (wanted !== text) {
  console.error(`${file} does not say what the programs have shown:\n\n${tables}`)
  console.error('Write the tables with "npm run test:real -- --table".')
  process.exit(1)
}

async function readProofs(folder: string): Promise<readonly Proof[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort()
  const files = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return files.flatMap((lines) => lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Proof])))
}
