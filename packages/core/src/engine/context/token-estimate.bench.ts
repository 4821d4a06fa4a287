/**
 * Measures how far the estimate of tokens is from a real tokenizer (o200k), on the prose, code and data of this
 * repository and on text in other scripts. A ratio of 1.2 means: a fifth too many or too few.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { report } from '@inspan/testing'
import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'
import { estimateTokenCount } from 'tokenx'

/** About the length of a message. */
const PIECE = 2000
const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const tokenizer = new Tiktoken(o200k)

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => readFileSync(join(root, folder, name), 'utf8'))

/** What people write to agents in other scripts, and what tools print. */
const OTHERS = [
  'Bitte prüfe, ob die Straßenschilder größer geworden sind; außerdem fehlt die Übersicht über die Änderungen. ',
  'Пожалуйста, проверь, почему тесты не проходят, и напиши короткий отчёт о том, что было сделано. ',
  '请检查为什么测试失败，并写一份简短的报告，说明已经完成的工作。',
  'テストが失敗する理由を調べて、実施した作業について短い報告書を書いてください。',
  '2026-11-18T07:24:53.120Z ERROR [worker-3] request 8f14e45f-ceea-467f failed after 1532ms: ECONNRESET 10.0.3.17:5432\n',
].map((line) => line.repeat(Math.ceil(PIECE / line.length)))

const KINDS: Readonly<Record<string, readonly string[]>> = {
  prose: filesIn('docs/guide', '.md'),
  code: filesIn('packages/core/src/engine/turns', '.ts'),
  data: [readFileSync(join(root, 'scripts/release-dates.json'), 'utf8')],
  'other scripts and logs': OTHERS,
}

interface Piece {
  readonly real: number
  readonly estimate: number
  readonly off: number
}

function pieces(texts: readonly string[]): Piece[] {
  return texts
    .flatMap((text) =>
      Array.from({ length: Math.ceil(text.length / PIECE) }, (_, n) => text.slice(n * PIECE, (n + 1) * PIECE)),
    )
    .filter((piece) => piece.length >= PIECE / 2)
    .map((piece) => {
      const real = tokenizer.encode(piece, 'all').length
      const estimate = estimateTokenCount(piece)
      return { real, estimate, off: Math.max(real / estimate, estimate / real) }
    })
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length
const all = Object.entries(KINDS).map(([kind, texts]) => [kind, pieces(texts)] as const)
for (const [kind, found] of [...all, ['all', all.flatMap(([, found]) => found)] as const]) {
  const worst = found.reduce((a, b) => (b.off > a.off ? b : a))
  const average = { name: `token estimate, mean, ${kind}`, ratio: mean(found.map(({ off }) => off)), limit: 1.35 }
  const floor = mean(found.map(({ real }) => real))
  report({ ...average, unit: 'tokens', floor, ours: mean(found.map(({ estimate }) => estimate)) })
  const last = { name: `token estimate, worst of ${found.length}, ${kind}`, ratio: worst.off, limit: 2 }
  report({ ...last, unit: 'tokens', floor: worst.real, ours: worst.estimate })
}
