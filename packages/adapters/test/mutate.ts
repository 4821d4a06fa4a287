import type { JsonValue } from '@inspan/protocol'

export type Random = () => number

/** Numbers that look random and are the same in every run (mulberry32). */
export function pseudoRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const STRANGE: readonly JsonValue[] = [
  null,
  true,
  -1,
  0,
  1e308,
  2 ** 53,
  '',
  'x',
  '\u001b[31m',
  [],
  {},
  [[]],
  [null],
  { type: 'tool_use' },
]

type Mutation = (line: string, siblings: readonly string[], random: Random) => readonly string[]

const MUTATIONS: readonly Mutation[] = [
  (line) => [line],
  (line) => [line, line],
  () => [],
  (line, _siblings, random) => [line.slice(0, Math.floor(random() * line.length))],
  (line, _siblings, random) => [line.slice(Math.floor(random() * line.length))],
  (line) => [`warning: glued${line}`],
  (line, siblings, random) => [`${line}${pick(siblings, random)}`],
  (_line, siblings, random) => [pick(siblings, random)],
  (line, _siblings, random) => [flipCharacter(line, random)],
  (line, _siblings, random) => [mutateJson(line, random, 'delete')],
  (line, _siblings, random) => [mutateJson(line, random, 'delete')],
  (line, _siblings, random) => [mutateJson(line, random, 'replace')],
  (line, _siblings, random) => [mutateJson(line, random, 'replace')],
  (line, siblings, random) => [swapIds(line, siblings, random)],
]

/** One line becomes none, one or two others. The first rounds are gentle, so that streams stay nearly whole. */
export function mutateLine(
  line: string,
  siblings: readonly string[],
  random: Random,
  round: number,
): readonly string[] {
  const rate = round % 3 === 0 ? 0.15 : round % 3 === 1 ? 0.5 : 1
  if (random() >= rate) return [line]
  const mutation = MUTATIONS[Math.floor(random() * MUTATIONS.length)]
  // A line feed ends a line: one that holds none cannot become two by a mutation inside it.
  return (mutation?.(line, siblings, random) ?? [line]).map((text) => text.replaceAll('\n', ' '))
}

function pick<Item>(items: readonly Item[], random: Random): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('There is nothing to pick from.')
  return item
}

function flipCharacter(line: string, random: Random): string {
  if (line === '') return '\u0000'
  const at = Math.floor(random() * line.length)
  return `${line.slice(0, at)}${String.fromCharCode(Math.floor(random() * 0x300))}${line.slice(at + 1)}`
}

/** Deletes or replaces one field somewhere in the record. */
function mutateJson(line: string, random: Random, how: 'delete' | 'replace'): string {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return line
  }
  // Each field is as likely as any other, without keeping them all.
  let seen = 0
  let chosen: { readonly holder: Record<string, unknown>; readonly key: string } | undefined
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const key in node) {
      seen += 1
      const holder = node as Record<string, unknown>
      if (random() * seen < 1) chosen = { holder, key }
      visit(holder[key])
    }
  }
  visit(value)
  if (chosen === undefined) return line
  if (how === 'delete') Reflect.deleteProperty(chosen.holder, chosen.key)
  else chosen.holder[chosen.key] = pick(STRANGE, random)
  return JSON.stringify(value)
}

/** Gives a line the id of another one, so that pairs are mixed up. */
function swapIds(line: string, siblings: readonly string[], random: Random): string {
  const ids = /"(?:id|tool_use_id|toolCallId|callID|task_id|session_id)":"([^"]*)"/
  const mine = ids.exec(line)?.[1]
  const other = ids.exec(pick(siblings, random))?.[1]
  return mine === undefined || mine === '' || other === undefined ? line : line.replaceAll(mine, other)
}
