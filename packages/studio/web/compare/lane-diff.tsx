import { useEffect, useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import type { LaneReport } from '@inspan/client/compare'
import { Diff } from '../parts/diff.tsx'

interface LaneDiffProps {
  readonly client: Client
  readonly reports: readonly LaneReport[]
}

/** How the result of one lane differs from that of another: its answer and the files it changed. */
export function LaneDiff({ client, reports }: LaneDiffProps): ReactNode {
  const [first, second] = reports
  const [left, setLeft] = useState(first?.thread ?? '')
  const [right, setRight] = useState(second?.thread ?? '')
  const one = reports.find(({ thread }) => thread === left)
  const other = reports.find(({ thread }) => thread === right)
  const choose = (label: string, value: string, set: (thread: string) => void): ReactNode => (
    <select
      aria-label={label}
      className="rounded-lg border border-(--line) bg-(--bg) px-2 py-1 text-sm"
      value={value}
      onChange={(event) => set(event.target.value)}
    >
      {reports.map(({ name, thread }) => (
        <option key={thread} value={thread}>
          {name}
        </option>
      ))}
    </select>
  )
  return (
    <section aria-label="Differences" className="px-4 pb-6">
      <h2 className="mb-2 flex flex-wrap items-center gap-2 font-semibold">
        Differences from {choose('Compare from', left, setLeft)} to {choose('Compare to', right, setRight)}
      </h2>
      {one !== undefined && other !== undefined && (
        <>
          <h3 className="mt-2 text-sm font-medium">Answer</h3>
          {one.answer === other.answer ? (
            <p className="text-sm text-(--soft)">The same.</p>
          ) : (
            <Diff before={one.answer} after={other.answer} isProse />
          )}
          <Files key={`${left} ${right}`} client={client} left={left} right={right} />
        </>
      )}
    </section>
  )
}

interface FilesProps {
  readonly client: Client
  readonly left: string
  readonly right: string
}

function Files({ client, left, right }: FilesProps): ReactNode {
  const [files, setFiles] = useState<readonly { path: string; before: string; after: string }[] | undefined>(undefined)
  useEffect(() => {
    let isCurrent = true
    void Promise.all([left, right].map((thread) => client.routes.changedFiles(thread).catch(() => []))).then(
      ([before = [], after = []]) => {
        const paths = [...new Set([...before, ...after].map(({ path }) => path))].toSorted()
        const textOf = (list: typeof before, path: string): string =>
          list.find((file) => file.path === path)?.after ??
          (list.some((file) => file.path === path)
            ? ''
            : ([...before, ...after].find((file) => file.path === path)?.before ?? ''))
        const shown = paths.map((path) => ({ path, before: textOf(before, path), after: textOf(after, path) }))
        if (isCurrent) setFiles(shown)
      },
    )
    return () => {
      isCurrent = false
    }
  }, [client, left, right])
  if (files === undefined) return <p className="text-sm text-(--soft)">Reading the files…</p>
  if (files.length === 0) return <p className="mt-2 text-sm text-(--soft)">Neither changed a file.</p>
  return files.map(({ after, before, path }) => (
    <div key={path}>
      <h3 className="mt-2 font-mono text-sm">{path}</h3>
      {before === after ? (
        <p className="text-sm text-(--soft)">The same.</p>
      ) : (
        <Diff path={path} before={before} after={after} />
      )}
    </div>
  ))
}
