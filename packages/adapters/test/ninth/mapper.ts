import type { JsonObject } from '@inspan/protocol'
import { asInteger, asObject, asText, NO_FIELDS } from '../../src/kit/fields.ts'
import type { Dialect, DialectReader, Run } from '../../src/kit/mapper.ts'
import { ninthTools } from './tools.ts'

export const ninthDialect: Dialect = {
  id: 'ninth',
  version: 1,
  tools: ninthTools,
  open: (run) => new NinthReader(run),
}

class NinthReader implements DialectReader {
  readonly #run: Run

  constructor(run: Run) {
    this.#run = run
  }

  /** What is not named here is unknown, by itself. */
  record(record: JsonObject): void {
    const id = asText(record['id']) ?? ''
    switch (record['type']) {
      case 'hello':
        this.#run.session(id)
        this.#run.consume('lifecycle')
        return
      case 'says':
        this.#run.text(asText(record['text']) ?? '', { partId: id })
        return
      case 'call':
        this.#run.call({
          id,
          name: asText(record['tool']) ?? '',
          input: asObject(record['input']) ?? NO_FIELDS,
          raw: record,
        })
        return
      case 'done':
        this.#run.result({ id, parent: null, raw: record, outcome: outcomeOf(record) })
    }
  }
}

function outcomeOf({ exit, output }: JsonObject): { isSuccess: boolean; exitCode?: number; result: string } {
  const exitCode = asInteger(exit)
  return { isSuccess: exitCode === 0, ...(exitCode === undefined ? {} : { exitCode }), result: asText(output) ?? '' }
}
