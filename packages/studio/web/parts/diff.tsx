import type { ReactNode } from 'react'
import { lineDiff } from '@inspan/client'
import { endingOf, useCodeLines } from '../highlight.ts'
import { Tokens } from './code.tsx'

const LOOKS = { same: '', added: 'bg-green-600/15', removed: 'bg-red-600/15' } as const
const SIGNS = { same: ' ', added: '+', removed: '-' } as const

interface DiffProps {
  readonly before: string
  readonly after: string
  /** The name of the file, by which the code is coloured. */
  readonly path?: string | undefined
  /** Whether long lines are wrapped, as words of people are. */
  readonly isProse?: boolean
}

export function Diff({ after, before, isProse = false, path }: DiffProps): ReactNode {
  const ending = endingOf(path)
  const [old, fresh] = [useCodeLines(before, ending), useCodeLines(after, ending)]
  let [oldIndex, freshIndex] = [0, 0]
  const lines = lineDiff(before, after).map(({ kind, text }) => {
    const tokens = kind === 'removed' ? old?.[oldIndex] : fresh?.[freshIndex]
    if (kind !== 'added') oldIndex += 1
    if (kind !== 'removed') freshIndex += 1
    return { kind, text, tokens }
  })
  return (
    <pre
      className="max-h-96 overflow-auto rounded border border-(--line) text-xs"
      aria-label="Changes"
      role="group"
      tabIndex={0}
    >
      {lines.map(({ kind, text, tokens }, index) => (
        <div key={index} className={`${isProse ? 'whitespace-pre-wrap' : 'w-fit min-w-full'} px-2 ${LOOKS[kind]}`}>
          <span className="text-(--soft) select-none">{SIGNS[kind]} </span>
          {tokens === undefined ? text : <Tokens tokens={tokens} />}
        </div>
      ))}
    </pre>
  )
}
