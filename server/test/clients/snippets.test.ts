import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { chromiumProgram, openContext } from '../browser/chromium.ts'
import { describeWith, findProgram } from '../gate/needs.ts'
import { installInto } from '../support/install.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { addressOfTls, serveTls } from './world.ts'

const sdkFolder = path.join(import.meta.dirname, 'sdk')
const sdk = await installInto(sdkFolder)
const documentation = await readFile(path.join(import.meta.dirname, '../../../docs/front-end.md'), 'utf8')

/** The first snippet of a section of docs/front-end.md. */
function snippetOf(section: string): string {
  const [, after = ''] = documentation.split(`\n## ${section}\n`)
  const code = /^```\w+\n(.*?)^```$/ms.exec(after)?.[1]
  if (code === undefined) throw new Error(`docs/front-end.md has no snippet in ${section}`)
  return code
}

/** Puts what a test has in place of what the page names. */
function replaced(snippet: string, from: string, to: string): string {
  if (!snippet.includes(from)) throw new Error(`the snippet has no ${from}`)
  return snippet.replace(from, to)
}

describeWith(sdk, 'the JavaScript SDK', () => {
  describeWith(chromiumProgram, 'in a page', () => {
    serveTls()

    it('does what the snippet of docs/front-end.md says', async () => {
      const world = await createWorld()
      await createUsers(world, 'alice', 'bob')
      const { authToken } = (await world.post('/users/alice/auth_tokens', {})).body.data
      const context = await openContext({ ignoreHTTPSErrors: true, bypassCSP: true })
      try {
        const page = await context.newPage()
        await page.goto(`https://${addressOfTls()}/health`)
        await page.addScriptTag({
          path: path.join(sdkFolder, 'node_modules/@cometchat/chat-sdk-javascript/CometChat.js'),
        })
        const here = replaced(snippetOf('A page to begin with'), "'127.0.0.1:8080'", `'${addressOfTls()}'`)
        const code = replaced(here, "'parley'", `'${world.app.name}'`)
        await page.evaluate(`(async (authToken, { CometChat }) => {${code}})(${JSON.stringify(authToken)}, window)`)
        const { data } = (await world.get('/users/alice/messages', { as: 'bob' })).body
        expect(data).toMatchObject([{ sender: 'alice', receiver: 'bob', data: { text: 'Hello Bob' } }])
      } finally {
        await context.close()
      }
    })
  })
})

const curl = { isMet: findProgram('curl') !== undefined, otherwise: 'there is no curl on the PATH', inGate: true }

describeWith(curl, 'a back end', () => {
  it('gets a token for a user as docs/front-end.md says', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const { port } = new URL(world.url)
    const { stdout } = await promisify(execFile)('bash', ['-c', snippetOf('Logging in')], {
      env: {
        ...process.env,
        // The snippet names no app: the host does.
        PARLEY_URL: `http://${world.app.name}.api-us.localhost:${port}`,
        PARLEY_API_KEY: world.apiKey,
      },
    })
    const { authToken } = JSON.parse(stdout).data
    expect((await world.get('/me', { token: authToken })).body.data.uid).toBe('alice')
  })
})
