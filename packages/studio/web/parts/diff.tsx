import type { ReactNode } from 'react'
import { lineDiff } from '../line-diff.ts'

const LOOKS = { same: '', added: 'bg-green-600/15', removed: 'bg-red-600/15' } as const
const SIGNS = { same: ' ', added: '+', removed: '-' } as const

export function Diff({ after, before }: { readonly before: string; readonly after: string }): ReactNode {
  return (
    <pre className="max-h-96 overflow-auto rounded border border-(--line) text-xs" aria-label="Changes">
      {lineDiff(before, after).map(({ kind, text }, index) => (
        <div key={index} className={`px-2 ${LOOKS[kind]}`}>
          <span className="select-none text-(--soft)">{SIGNS[kind]} </span>
          {text}
        </div>
      ))}
    </pre>
  )
}
