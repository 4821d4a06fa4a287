/**
 * Stands in for the Antigravity CLI, which nobody gets without an account: `--print` asks a model and prints its text as
 * it comes.
 */
const at = process.argv.indexOf('--print')
if (at < 0) {
  console.log('1.0.0')
  process.exit(0)
}
const prompt = process.argv[at + 1] ?? ''
const body = JSON.stringify({ model: 'model-1', stream: true, messages: [{ role: 'user', content: prompt }] })
const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-test' }
const answer = await fetch(`${process.env['PROVIDER_URL']}/v1/chat/completions`, { method: 'POST', headers, body })
if (!answer.ok) {
  console.error(`Error: the model answered ${answer.status}: ${await answer.text()}`)
  process.exit(1)
}
let unread = ''
for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
  const lines = (unread + chunk).split('\n')
  unread = lines.pop() ?? ''
  for (const line of lines) {
    if (!line.startsWith('data: {')) continue
    const { choices = [] } = JSON.parse(line.slice(6)) as { choices?: { delta: { content?: string | null } }[] }
    process.stdout.write(choices[0]?.delta.content ?? '')
  }
}
process.stdout.write('\n')
