import { useEffect, useState, type ReactNode } from 'react'
import type { ThreadFileChange, Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { Diff } from '../parts/diff.tsx'
import { Section } from '../parts/section.tsx'

const SIGNS = { created: '+', changed: '~', deleted: '−' } as const

/** The files that the thread has changed, each with its diff. Messages can be rewound to undo the changes. */
export function Files({ client }: { readonly client: Client }): ReactNode {
  const { state } = useHarness(client, ({ head, status, thread }) => ({
    thread,
    // Read again when a run or a step is over.
    moment: `${status} ${head.run?.step ?? ''} ${head.lastRun?.endedSeq ?? ''} ${head.lineage.length}`,
  }))
  const { moment, thread } = state
  const [files, setFiles] = useState<readonly ThreadFileChange[]>([])
  const [problem, setProblem] = useState<string | undefined>(undefined)
  useEffect(() => {
    let isCurrent = true
    client.routes.changedFiles(thread).then(
      (found) => {
        if (!isCurrent) return
        setFiles(found)
        setProblem(undefined)
      },
      (error: unknown) => isCurrent && setProblem(error instanceof Error ? error.message : String(error)),
    )
    return () => {
      isCurrent = false
    }
  }, [client, thread, moment])
  return (
    <Section title="Changed files">
      {problem !== undefined && <p className="text-sm text-(--soft)">{problem}</p>}
      {problem === undefined && files.length === 0 && <p className="text-sm text-(--soft)">None.</p>}
      {files.map((file) => (
        <details key={file.path} className="mb-1">
          <summary className="cursor-pointer truncate font-mono text-xs leading-6">
            {SIGNS[file.status]} {file.path}
          </summary>
          {file.isBinary === true || (file.before === undefined && file.after === undefined) ? (
            <p className="text-xs text-(--soft)">Not shown: binary or very large.</p>
          ) : (
            <Diff path={file.path} before={file.before ?? ''} after={file.after ?? ''} />
          )}
        </details>
      ))}
      {files.length > 0 && (
        <p className="text-xs text-(--soft)">To undo changes, choose Rewind below one of your messages.</p>
      )}
    </Section>
  )
}
