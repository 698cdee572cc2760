// The official TypeScript client, told what to do by the Go test: a line of JSON on stdin for each thing to do, lines of
// JSON on stdout for what comes of it. The test has the opinions.
//
//   node client.mjs stdio COMMAND ARGUMENT...
//   node client.mjs http URL                     with the bearer token in TOKEN, if there is one
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const [kind, target, ...rest] = process.argv.slice(2)
const token = process.env.TOKEN
const transport = kind === 'stdio'
  ? new StdioClientTransport({ command: target, args: rest, env: process.env })
  : new StreamableHTTPClientTransport(new URL(target), {
      requestInit: token ? { headers: { Authorization: `Bearer ${token}` } } : {},
    })

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')
const client = new Client({ name: 'sandloop-e2e', version: '1' })
client.onerror = (error) => process.stderr.write(`client: ${error.message}\n`)
const calls = new Map()

const actions = {
  connect: async () => {
    await client.connect(transport)
    return { server: client.getServerVersion(), instructions: client.getInstructions() }
  },
  list: () => client.listTools(),
  call: async ({ id, name, arguments: args, progress }) => {
    const abort = new AbortController()
    calls.set(id, abort)
    const onprogress = progress ? (p) => say({ id, progress: p }) : undefined
    try {
      return await client.callTool({ name, arguments: args }, undefined,
        { signal: abort.signal, onprogress, timeout: 120_000, resetTimeoutOnProgress: true })
    } finally {
      calls.delete(id)
    }
  },
  cancel: async ({ call }) => calls.get(call).abort('the test wants no more') ?? {},
  close: async () => {
    if (kind === 'http') await transport.terminateSession()
    await client.close()
    return {}
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line)
  actions[command.do](command).then(
    (result) => say({ id: command.id, result }),
    (error) => say({ id: command.id, error: { message: String(error?.message ?? error), code: error?.code ?? 0 } }),
  )
}
