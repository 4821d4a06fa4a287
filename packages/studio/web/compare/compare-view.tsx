import { Download, Trash2 } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { comparisonTable, exportComparison, type Comparison, type ComparisonFormat } from '@inspan/client/compare'
import { download } from '../download.ts'
import { Button } from '../parts/button.tsx'
import type { KeptComparison } from './comparisons.ts'
import { endComparison } from './end-comparison.ts'
import { LaneDiff } from './lane-diff.tsx'
import { LaneView } from './lane-view.tsx'
import { useLanes, type LiveLane } from './use-lanes.ts'

interface CompareViewProps {
  readonly client: Client
  readonly comparison: KeptComparison
  readonly onOpen: (thread: string) => void
  readonly onDone: () => void
  /** Called when a lane begins, waits or ends, which the list of threads has to show, too. */
  readonly onChange: () => void
}

/** The lanes of a comparison side by side while they work, the table, and what they differ in. */
export function CompareView({ client, comparison, onChange, onDone, onOpen }: CompareViewProps): ReactNode {
  const lanes = useLanes(comparison)
  const reports = lanes.flatMap(({ report }) => (report === undefined ? [] : [report]))
  const finished: Comparison = { prompt: comparison.prompt, lanes: reports }
  // After a reload the lanes connect one by one.
  const isOver =
    reports.length === comparison.lanes.length &&
    reports.every(({ status }) => !['waiting', 'running', 'blocked'].includes(status))
  const statuses = reports.map(({ status }) => status).join()
  useEffect(onChange, [onChange, statuses])
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [isDropping, setDropping] = useState(false)
  const drop = async (kept: string | undefined): Promise<void> => {
    try {
      await endComparison(client, comparison, kept)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
      return
    }
    if (kept === undefined) onDone()
    else onOpen(kept)
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-(--line) px-4 py-2">
        <h1 className="min-w-0 truncate font-semibold max-sm:w-full sm:flex-1">{comparison.prompt}</h1>
        {(['markdown', 'json', 'csv'] as const).map((format) => (
          <Button key={format} onClick={() => save(finished, format)}>
            <Download size={13} className="mr-1 inline" />
            {format === 'markdown' ? 'Markdown' : format.toUpperCase()}
          </Button>
        ))}
        <Button kind="danger" onClick={() => (isDropping ? void drop(undefined) : setDropping(true))}>
          <Trash2 size={13} className="mr-1 inline" />
          {isDropping ? 'Really drop all' : 'Drop all'}
        </Button>
      </div>
      {problem !== undefined && (
        <p role="alert" className="border-b border-(--line) px-4 py-2 text-sm text-(--bad)">
          {problem}
        </p>
      )}
      <div className="flex-1 overflow-y-auto" tabIndex={0} role="region" aria-label="Comparison">
        <Table comparison={finished} />
        <div className="flex gap-3 overflow-x-auto px-4 pb-4">
          {lanes.map((live) => (
            <Lane
              key={live.lane.thread}
              live={live}
              isReadOnly={comparison.how === 'read-only'}
              canKeep={isOver}
              onOpen={onOpen}
              onKeep={() => void drop(live.lane.thread)}
            />
          ))}
        </div>
        {isOver && <LaneDiff client={client} reports={reports} />}
      </div>
    </div>
  )
}

function Table({ comparison }: { readonly comparison: Comparison }): ReactNode {
  const { columns, rows } = comparisonTable(comparison)
  return (
    <div className="overflow-x-auto p-4">
      <table className="w-full text-sm" aria-label="What each lane did">
        <thead>
          <tr className="text-left text-xs text-(--soft) uppercase">
            {columns.map((column) => (
              <th key={column} scope="col" className="border-b border-(--line) py-1 pr-4 font-semibold">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row[0]}>
              {row.map((cell, index) => (
                <td key={index} className="border-b border-(--line) py-1 pr-4 whitespace-nowrap tabular-nums">
                  {cell === '' ? '–' : cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface LaneProps {
  readonly live: LiveLane
  readonly isReadOnly: boolean
  readonly canKeep: boolean
  readonly onOpen: (thread: string) => void
  readonly onKeep: () => void
}

function Lane({ canKeep, isReadOnly, live, onKeep, onOpen }: LaneProps): ReactNode {
  const { client, lane, problem, report } = live
  const [isSure, setSure] = useState(false)
  return (
    <section
      aria-label={`Lane ${lane.name}`}
      className="flex min-w-72 flex-1 basis-0 flex-col rounded-xl border border-(--line)"
    >
      <div className="flex items-center gap-2 border-b border-(--line) px-3 py-2">
        <h2 className="min-w-0 flex-1 truncate font-medium">{lane.name}</h2>
        <span className="text-xs text-(--soft)">{report?.status ?? 'connecting'}</span>
      </div>
      {problem !== undefined && <p className="p-3 text-sm text-(--bad)">{problem}</p>}
      {client !== undefined && <LaneView client={client} isReadOnly={isReadOnly} />}
      <div className="flex flex-wrap gap-2 border-t border-(--line) p-2">
        <Button onClick={() => onOpen(lane.thread)}>Open the thread</Button>
        {canKeep && (
          <Button kind={isSure ? 'primary' : 'plain'} onClick={() => (isSure ? onKeep() : setSure(true))}>
            {isSure ? 'Really drop the others' : 'Keep this one'}
          </Button>
        )}
      </div>
    </section>
  )
}

const TYPES = {
  markdown: ['md', 'text/markdown'],
  json: ['json', 'application/json'],
  csv: ['csv', 'text/csv'],
} as const

function save(comparison: Comparison, format: ComparisonFormat): void {
  const [ending, type] = TYPES[format]
  download(`comparison.${ending}`, type, exportComparison(comparison, format))
}
