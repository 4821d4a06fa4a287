/** Follows a thread without drawing it, until a text comes, and prints the milliseconds of CPU that it used. */
import { connect } from '@inspan/client'

const [url = '', token = '', thread = '', end = ''] = process.argv.slice(2)
const client = await connect({ url, token, thread })
process.stdout.write('ready\n')
const before = process.cpuUsage()
await new Promise<void>((resolve) => {
  client.subscribe(() => {
    if (client.getState().messages.at(-1)?.content.includes(end) === true) resolve()
  })
})
const { system, user } = process.cpuUsage(before)
process.stdout.write(`${(system + user) / 1000}\n`)
await client.close()
