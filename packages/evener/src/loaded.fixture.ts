/** Runs one command in a process of its own and says on standard error which modules that took. */
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
