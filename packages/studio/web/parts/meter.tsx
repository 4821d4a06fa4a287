import type { ReactNode } from 'react'

interface MeterProps {
  readonly label: string
  readonly value: number
  readonly most: number
}

export function Meter({ label, most, value }: MeterProps): ReactNode {
  return (
    <label className="mb-1 block text-sm">
      <span className="flex justify-between">
        <span className="text-(--soft)">{label}</span>
        <span>
          {value.toLocaleString()} of {most.toLocaleString()}
        </span>
      </span>
      <meter className="w-full" min={0} max={most} high={most * 0.8} value={Math.min(value, most)} />
    </label>
  )
}
