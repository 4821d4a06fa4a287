/** Runs one command in a separate process and lists on standard error which modules it loaded. */
import { registerHooks } from 'node:module'

const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})

const { main } = await import('./main.ts')
process.exitCode = await main(process.argv.slice(2))
process.stderr.write(JSON.stringify(loaded))
