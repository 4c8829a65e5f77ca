import { clientFrames, type FrameDeclaration, serverFrames, socketCloses, socketPaths } from '@parley/contract'
import type { FastifyInstance } from 'fastify'
import { version } from '../../version.ts'
import { serveStatic } from '../static.ts'
import { type Examples, noExamples, readExamples } from './examples.ts'

/** `GET /asyncapi.json`: the socket, made from the declarations of its frames. */
export function registerAsyncApi(server: FastifyInstance): void {
  // Made when somebody asks for it: a start need not wait.
  let content: Buffer | undefined
  serveStatic(server, {
    url: '/asyncapi.json',
    operation: 'asyncapi',
    type: 'application/json',
    content: () => (content ??= Buffer.from(JSON.stringify(describeSocket(readExamples())))),
  })
}

/** The AsyncAPI 3.0 document of the socket. */
function describeSocket(examples: Examples = noExamples): object {
  const frames = [...clientFrames, ...serverFrames]
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Parley socket',
      version,
      description: [
        `One JSON object per text frame. The paths of the socket are ${socketPaths.join(', ')}. The first frame authenticates the client.`,
        `Close codes: ${Object.values(socketCloses)
          .map(({ code, meaning }) => `${code}: ${meaning}`)
          .join(' ')}`,
        'The HTTP operations are in /openapi.json.',
      ].join('\n\n'),
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      socket: {
        address: '/v3',
        title: 'The socket',
        messages: Object.fromEntries(frames.map(({ name }) => [name, { $ref: `#/components/messages/${name}` }])),
        bindings: { ws: { method: 'GET' } },
      },
    },
    operations: {
      sendFrame: operation('receive', 'Frames from clients', clientFrames),
      receiveFrame: operation('send', 'Frames from the service', serverFrames),
    },
    components: {
      messages: Object.fromEntries(
        frames.map(({ name, summary, schema }) => [
          name,
          {
            ...{ name, title: name, summary, payload: schema },
            ...(examples.frames[name] !== undefined && { examples: [{ payload: examples.frames[name] }] }),
          },
        ]),
      ),
    },
  }
}

/** Seen from the service, as AsyncAPI 3 has it: it receives what clients send. */
function operation(action: 'send' | 'receive', summary: string, frames: readonly FrameDeclaration[]): object {
  return {
    action,
    summary,
    channel: { $ref: '#/channels/socket' },
    messages: frames.map(({ name }) => ({ $ref: `#/channels/socket/messages/${name}` })),
  }
}
