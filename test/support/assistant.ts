import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Ends, TestShop } from './shop.ts'
import { atEnd } from './ends.ts'

/** An assistant with the protocol's own client, and a key. */
export async function assistantWith(t: Ends, shop: TestShop, secret: string) {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const requestInit = { headers: { authorization: `Bearer ${secret}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${shop.url}/mcp`), { requestInit }))
  atEnd(t, () => client.close())
  return {
    client,
    async call(name: string, given: Record<string, unknown> = {}) {
      const { isError = false, structuredContent, content } = await client.callTool({ name, arguments: given })
      assert.deepEqual(JSON.parse((content[0] as { text: string }).text), structuredContent)
      return { isError, said: structuredContent as any }
    },
  }
}
