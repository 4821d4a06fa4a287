import { HarnessAgent } from '@ai-sdk/harness/agent'
import { tool } from 'ai'
import {
  codingAgent,
  deploy,
  description,
  inputSchema,
  isRestarted,
  readSaved,
  report,
  sandboxSession,
  save,
} from './shared.mjs'

const agent = new HarnessAgent({
  id: 'app',
  harness: codingAgent,
  tools: { deploy: tool({ description, inputSchema, execute: deploy }) },
  toolApproval: { deploy: 'user-approval' },
})
const print = async ({ stream }) => {
  for await (const part of stream) if (part.type === 'text-delta') report(part.text)
}
if (isRestarted) {
  const continueFrom = readSaved()
  const session = await agent.createSession({ sessionId: 'app', sandboxSession, continueFrom })
  const toolApprovalContinuations = continueFrom.pendingToolApprovals.map(({ approvalId, toolName }) => {
    report(`asked ${toolName}`)
    return { type: 'tool-approval-response', approvalId, approved: true }
  })
  await print(await agent.continueStream({ session, toolApprovalContinuations }))
} else {
  const session = await agent.createSession({ sessionId: 'app', sandboxSession })
  await print(await agent.stream({ session, prompt: 'Deploy 1.2.' }))
  const state = await session.suspendTurn()
  save(state)
  for (const { toolName } of state.pendingToolApprovals) report(`asked ${toolName}`)
}
