/**
 * What Fastify does at best on this machine: one route that validates a body as large as that of a message and answers.
 * No credential, no log, no database.
 */
import Fastify from 'fastify'

const body = {
  type: 'object',
  required: ['receiver', 'receiverType', 'category', 'type', 'data'],
  properties: {
    receiver: { type: 'string', minLength: 1, maxLength: 100 },
    receiverType: { type: 'string', enum: ['user', 'group'] },
    category: { type: 'string' },
    type: { type: 'string' },
    data: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
  },
}
const answer = {
  type: 'object',
  properties: { data: { type: 'object', properties: { success: { type: 'boolean' } } } },
}

const app = Fastify()
app.post('/messages', { schema: { body, response: { 200: answer } } }, async () => ({ data: { success: true } }))
const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.({ port: Number(new URL(address).port) })
process.on('disconnect', () => process.exit())
