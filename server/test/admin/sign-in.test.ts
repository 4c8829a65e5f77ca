import { ApiError } from '@parley/contract'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createOwnerLink, offerSetup } from '../../src/areas/operators/index.ts'
import { codeAt } from '../../src/areas/operators/totp.ts'
import type { Log } from '../../src/log.ts'
import { ensureOwner } from '../../src/process/foundation.ts'
import { ask } from '../http/watched.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { startService } from '../support/service.ts'
import { soon } from '../support/until.ts'
import { createWorld } from '../support/world.ts'
import { createOperator, createOwner, meOf, newEmail, password, Visitor } from './operator.ts'

describe('the first owner', () => {
  it('is made by the one-time address of a database without operators, of those who come at the same time by one', async () => {
    const own = await createOwnDatabase()
    const { parley, url } = await startService({}, own.connection)
    try {
      const { token } = await offerSetup(parley.context, undefined)
      const other = await offerSetup(parley.context, undefined)
      const claim = (email: string, secret = token) =>
        new Visitor(url).post('/setup', { token: secret, email, name: 'Ann', password })
      const answers = await Promise.all(
        ['a@example.com', 'b@example.com', 'c@example.com'].map((email) => claim(email)),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404])
      // Another start had made another address: it is of no use any more.
      expect(refusal(await claim('d@example.com', other.token))).toBe('404 ERR_LINK_NOT_FOUND')
      expect(await offerSetup(parley.context, { email: 'e@example.com', password })).toEqual({ isIgnored: true })
      const byCommand = await createOwnerLink(parley.context)
      expect((await claim('f@example.com', byCommand)).status).toBe(200)
    } finally {
      await parley.close()
      await own.drop()
    }
  })

  it('is the one whom the environment names', async () => {
    const own = await createOwnDatabase()
    const { parley, url } = await startService({}, own.connection)
    try {
      expect(await offerSetup(parley.context, { email: 'Root@Example.com', password })).toEqual({})
      const root = new Visitor(url)
      dataOf(await root.post('/session', { email: 'root@example.com', password }))
      expect(await meOf(root)).toMatchObject({ email: 'root@example.com', role: 'owner', apps: null })
      // It was kept at the full cost, is checked at that, and is replaced by one at the cost of tests.
      const costOf = async () =>
        (
          await parley.context.database.run<{ cost: number }>(sql`select get_byte(password, 0) as cost from operators`)
        ).map(({ cost }) => cost)
      expect(await costOf()).toEqual([1])
      expect(refusal(await root.put('/password', { current: 'wrong', password: 'another long password' }))).toBe(
        '401 ERR_WRONG_PASSWORD',
      )
      dataOf(await root.put('/password', { current: password, password: 'another long password' }))
      expect(await costOf()).toEqual([0])
      dataOf(await new Visitor(url).post('/session', { email: 'root@example.com', password: 'another long password' }))
    } finally {
      await parley.close()
      await own.drop()
    }
  })

  it('is ignored in a database that has operators, and the log says so', async () => {
    const own = await createOwnDatabase()
    const { parley, url } = await startService({}, own.connection)
    try {
      const warned: unknown[][] = []
      const log = { ...parley.context.log, warn: (...said: unknown[]) => void warned.push(said) } as unknown as Log
      const named = (email: string) =>
        ensureOwner(parley.context, { console: true, firstOwner: { email, password } }, log)
      expect(await named('first@example.com')).toBeUndefined()
      expect(warned).toEqual([])
      await named('second@example.com')
      expect(JSON.stringify(warned)).toContain('PARLEY_OPERATOR_EMAIL and PARLEY_OPERATOR_PASSWORD are ignored')
      const second = await new Visitor(url).post('/session', { email: 'second@example.com', password })
      expect(refusal(second)).toBe('401 ERR_WRONG_PASSWORD')
    } finally {
      await parley.close()
      await own.drop()
    }
  })

  it('cannot be made by an address that is old, used or made up', async () => {
    const world = await createWorld()
    const claim = (token: string) =>
      new Visitor(world.url).post('/setup', { token, email: newEmail(), name: 'Ann', password })
    const token = await createOwnerLink(world.context)
    const digest = world.context.secrets.digest(`operator link:${token}`)
    await world.context.database.run(sql`
      update operator_links
      set expires_at = ${Math.floor(Date.now() / 1000)}
      where digest = ${digest}`)
    expect((await claim(token)).status).toBe(404)
    expect(refusal(await claim('a'.repeat(43)))).toBe('404 ERR_LINK_NOT_FOUND')
    expect(refusal(await claim('short'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('hashes no password for an address that is made up: those who sign in would wait for it', async () => {
    const service = await startService()
    onTestFinished(() => service.parley.close())
    const hash = vi.spyOn(service.parley.context.operatorPasswords, 'hash')
    const visitor = new Visitor(service.url)
    const made = { token: 'a'.repeat(43), name: 'Ann', password }
    expect(refusal(await visitor.post('/setup', { ...made, email: newEmail() }))).toBe('404 ERR_LINK_NOT_FOUND')
    expect(refusal(await visitor.post('/invitations/accept', made))).toBe('404 ERR_LINK_NOT_FOUND')
    expect(hash).not.toHaveBeenCalled()
  })
})

describe('signing in', () => {
  it('in vain is in the audit log of operators, with what was wrong', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const email = newEmail()
    const { id } = await meOf(await createOperator(owner, { role: 'support', apps: [world.app.name] }, email))
    const visitor = new Visitor(world.url)
    expect(refusal(await visitor.post('/session', { email, password: 'not the password' }))).toBe(
      '401 ERR_WRONG_PASSWORD',
    )
    await soon(async () => {
      const entries = dataOf(await owner.get('/audit-log?action=operator_sign_in_refused'))
      const target = expect.objectContaining({ type: 'operator', id })
      const told = { target, details: { reason: 'password' } }
      expect(entries).toContainEqual(expect.objectContaining(told))
    })
  })

  it('is no wrong guess where too many passwords wait to be checked', async () => {
    const service = await startService()
    onTestFinished(() => service.parley.close())
    const world = await createWorld(service)
    const email = newEmail()
    const owner = await createOwner(world, email)
    const { operatorPasswords } = world.context
    const spy = vi.spyOn(operatorPasswords, 'matches').mockImplementation(() => {
      return Promise.reject(new ApiError('ERR_MISSION_FAILED', 'Too many passwords wait to be checked. Try again.'))
    })
    const change = { current: password, password: 'another long password' }
    for (let tries = 0; tries < 8; tries++) {
      expect((await new Visitor(world.url).post('/session', { email, password })).status).toBe(503)
      expect((await owner.put('/password', change)).status).toBe(503)
    }
    spy.mockRestore()
    expect((await new Visitor(world.url).post('/session', { email, password })).status).toBe(200)
    expect((await owner.put('/password', change)).status).toBe(200)
  })

  it('gives a session, which signing out ends', async () => {
    const world = await createWorld()
    const email = newEmail()
    await createOwner(world, email)
    const visitor = new Visitor(world.url)
    const answer = await visitor.post('/session', { email: email.toUpperCase(), password })
    expect(String(answer.headers['set-cookie'])).toMatch(
      /^parley-console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    expect(answer.headers['cache-control']).toBe('no-store')
    const { cookie } = visitor
    expect(await meOf(visitor)).toMatchObject({ email, name: 'Olga', role: 'owner', apps: null, mayRead: true })
    dataOf(await visitor.delete('/session'))
    visitor.cookie = cookie
    expect(refusal(await visitor.get('/session'))).toBe('401 ERR_NO_AUTH')
  })

  it('answers an unknown address as it does a wrong password, and makes whoever guesses wait', async () => {
    const world = await createWorld()
    const email = newEmail()
    await createOwner(world, email)
    const guess = async (address: string, secret: string) =>
      refusal(await new Visitor(world.url).post('/session', { email: address, password: secret }))
    expect(await guess(newEmail(), password)).toBe('401 ERR_WRONG_PASSWORD')
    for (let i = 0; i < 6; i++) expect(await guess(email, `wrong ${i}`)).toBe('401 ERR_WRONG_PASSWORD')
    // Where the machine is slow, the first wait is over by now; each is twice as long as the one before.
    let waits = await new Visitor(world.url).post('/session', { email, password: 'wrong 6' })
    for (let i = 7; i < 20 && waits.status === 401; i++) {
      waits = await new Visitor(world.url).post('/session', { email, password: `wrong ${i}` })
    }
    expect(refusal(waits)).toBe('429 ERR_TOO_MANY_REQUESTS')
    expect(Number(waits.headers['retry-after'])).toBeGreaterThan(0)
  })

  it('makes nobody else wait on the network of an office', async () => {
    const { parley, url } = await startService({ TRUST_PROXY: 'loopback' })
    onTestFinished(() => parley.close())
    const email = newEmail()
    await createOwner({ url, context: parley.context }, email)
    const signIn = async (address: string, secret: string) => {
      const headers = {
        'x-forwarded-for': address,
        'x-forwarded-proto': 'https',
        origin: url.replace('http:', 'https:'),
      }
      return refusal(await new Visitor(url).post('/session', { email, password: secret }, headers))
    }
    const answers = new Set<string>()
    for (let i = 0; i < 20 && !answers.has('429 ERR_TOO_MANY_REQUESTS'); i++) {
      answers.add(await signIn('10.0.0.5', `wrong ${i}`))
    }
    expect([...answers]).toEqual(['401 ERR_WRONG_PASSWORD', '429 ERR_TOO_MANY_REQUESTS'])
    expect(await signIn('10.0.0.9', password)).toBe('200 undefined')
  })

  it('asks for a code where an authenticator app is confirmed, and takes each once', async () => {
    const world = await createWorld()
    const email = newEmail()
    const owner = await createOwner(world, email)
    expect(refusal(await owner.post('/totp', { password: 'not the password' }))).toBe('401 ERR_WRONG_PASSWORD')
    const { secret, address } = dataOf(await owner.post('/totp', { password }))
    expect(address).toContain(secret)
    const step = Math.floor(Date.now() / 30_000)
    expect(refusal(await owner.post('/totp/confirm', { code: '000000' }))).toBe('401 ERR_WRONG_OPERATOR_CODE')
    dataOf(await owner.post('/totp/confirm', { code: codeAt(secret, step) }))

    const attempt = async (code?: string) => {
      const answer = await new Visitor(world.url).post('/session', { email, password, ...(code && { code }) })
      return answer.status === 200 ? 'in' : refusal(answer)
    }
    expect(await attempt()).toBe('401 ERR_OPERATOR_CODE_REQUIRED')
    // The one that confirmed it is used.
    expect(await attempt(codeAt(secret, step))).toBe('401 ERR_WRONG_OPERATOR_CODE')
    const { id } = await meOf(owner)
    await soon(async () => {
      const entries = dataOf(await owner.get('/audit-log?action=operator_sign_in_refused'))
      const told = { target: expect.objectContaining({ id }), details: { reason: 'code' } }
      expect(entries).toContainEqual(expect.objectContaining(told))
    })
    const next = codeAt(secret, step + 1)
    const both = await Promise.all([attempt(next), attempt(next)])
    expect(both.sort()).toEqual(['401 ERR_WRONG_OPERATOR_CODE', 'in'])
    dataOf(await owner.delete('/totp', { password }))
    expect(await attempt()).toBe('in')
  })

  it('needs HTTPS, but on the machine itself', async () => {
    const world = await createWorld()
    const email = newEmail()
    await createOwner(world, email)
    const visitor = new Visitor(world.url)
    const at = (headers: Record<string, string>) => visitor.post('/session', { email, password }, headers)
    expect(refusal(await at({ host: 'chat.example.com', origin: 'http://chat.example.com' }))).toBe(
      '403 ERR_PERMISSION_DENIED',
    )
    expect((await at({ host: 'localhost:1', origin: 'http://localhost:1' })).status).toBe(200)
  })

  it('gives a cookie for one host over HTTPS alone', async () => {
    const own = await createOwnDatabase()
    const { parley, url } = await startService({ PUBLIC_URL: 'https://chat.example.com' }, own.connection)
    try {
      await offerSetup(parley.context, { email: 'root@example.com', password })
      const visitor = new Visitor(url)
      const origin = { origin: 'https://chat.example.com' }
      const answer = await visitor.post('/session', { email: 'root@example.com', password }, origin)
      expect(String(answer.headers['set-cookie'])).toMatch(/^__Host-parley-console=.*; Secure$/)
      dataOf(await visitor.get('/session'))
      // Under the plain name it is none.
      visitor.cookie = visitor.cookie?.replace('__Host-', '')
      expect(refusal(await visitor.get('/session'))).toBe('401 ERR_NO_AUTH')
    } finally {
      await parley.close()
      await own.drop()
    }
  })
})

describe('pages of other origins', () => {
  it('cannot change anything, whatever they send', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const forged: Record<string, string>[] = [
      { origin: 'https://evil.example.com' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site', origin: owner.url },
      { 'sec-fetch-site': 'same-site', origin: owner.url },
      { 'sec-fetch-site': 'none', origin: owner.url },
      { origin: 'https://evil.example.com', 'content-type': 'text/plain' },
      { origin: 'https://evil.example.com', 'content-type': 'application/x-www-form-urlencoded' },
    ]
    for (const headers of forged) {
      expect(refusal(await owner.post('/apps', { appId: 'forged' }, headers))).toBe('403 ERR_PERMISSION_DENIED')
      expect(refusal(await owner.post(`/apps/${world.app.name}/users`, { uid: 'forged', name: 'F' }, headers))).toBe(
        '403 ERR_PERMISSION_DENIED',
      )
      const { cookie } = owner
      expect(refusal(await owner.post('/session', { email: newEmail(), password }, headers))).toBe(
        '403 ERR_PERMISSION_DENIED',
      )
      expect(owner.cookie).toBe(cookie)
    }
    const silent = await ask(`${owner.url}/admin/v1/apps`, {
      method: 'POST',
      headers: { cookie: owner.cookie as string, 'content-type': 'application/json' },
      body: '{"appId":"forged"}',
    })
    expect(refusal(silent)).toBe('403 ERR_PERMISSION_DENIED')
    expect((await world.get('/users/forged')).status).toBe(404)
  })

  it('are told nothing by the headers of CORS', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    for (const path of ['/session', `/apps/${world.app.name}/users`, '/nothing']) {
      const answer = await owner.get(path, { origin: 'https://evil.example.com' })
      if (path !== '/nothing') expect(answer.headers['access-control-allow-origin'], path).toBeUndefined()
      const preflight = await owner.call('OPTIONS', path, undefined, {
        origin: 'https://evil.example.com',
        'access-control-request-method': 'POST',
      })
      expect(preflight.status, path).toBe(404)
    }
  })
})

describe('an account', () => {
  it('ends its other sessions with its password', async () => {
    const world = await createWorld()
    const email = newEmail()
    const owner = await createOwner(world, email)
    const tab = new Visitor(world.url)
    dataOf(await tab.post('/session', { email, password }))
    expect(dataOf(await owner.get('/sessions'))).toHaveLength(2)
    const change = (current: string) => owner.put('/password', { current, password: 'another long password' })
    expect(refusal(await change('wrong wrong wrong'))).toBe('401 ERR_WRONG_PASSWORD')
    dataOf(await change(password))
    expect(refusal(await tab.get('/session'))).toBe('401 ERR_NO_AUTH')
    expect(dataOf(await owner.get('/sessions'))).toMatchObject([{ isThis: true }])
    expect(refusal(await tab.post('/session', { email, password }))).toBe('401 ERR_WRONG_PASSWORD')
    dataOf(await tab.post('/session', { email, password: 'another long password' }))
  })

  it('is not signed in to by the password that it had when somebody began to', async () => {
    const world = await createWorld()
    const email = newEmail()
    const owner = await createOwner(world, email)
    const { operatorPasswords } = world.context
    const { matches } = operatorPasswords
    const compared = vi.spyOn(operatorPasswords, 'matches')
    onTestFinished(() => compared.mockRestore())
    const tab = new Visitor(world.url)
    compared.mockImplementationOnce(async (...compare) => {
      const isRight = await matches(...compare)
      dataOf(await owner.put('/password', { current: password, password: 'another long password' }))
      return isRight
    })
    expect(refusal(await tab.post('/session', { email, password }))).toBe('401 ERR_WRONG_PASSWORD')
    expect(tab.cookie).toBeUndefined()
    expect(dataOf(await owner.get('/sessions'))).toMatchObject([{ isThis: true }])
  })

  it('ends sessions of its own, and those of nobody else', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const other = await createOwner(world)
    const { sessionId } = await meOf(owner)
    expect(refusal(await other.delete(`/sessions/${sessionId}`))).toBe('404 ERR_SESSION_NOT_FOUND')
    dataOf(await owner.delete(`/sessions/${sessionId}`))
    expect(refusal(await owner.get('/session'))).toBe('401 ERR_NO_AUTH')
  })

  it('has personal tokens, which can do no more than it can', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const support = await createOperator(owner, { role: 'support', apps: [world.app.name] })
    const make = (rights: string[]) => support.post('/tokens', { name: 'script', rights, days: 1 })
    expect(refusal(await make(['look', 'keys']))).toBe('403 ERR_PERMISSION_DENIED')
    const { token, id } = dataOf(await make(['look']))
    expect(token).toMatch(/^parley_op_/)
    const script = new Visitor(world.url)
    script.token = token
    dataOf(await script.get(`/apps/${world.app.name}/users`))
    expect(refusal(await script.post('/tokens', { name: 'x', rights: ['look'], days: 1 }))).toBe(
      '403 ERR_PERMISSION_DENIED',
    )
    expect(JSON.stringify(dataOf(await support.get('/tokens')))).not.toContain(token)
    dataOf(await support.delete(`/tokens/${id}`))
    expect(refusal(await script.get('/session'))).toBe('401 ERR_NO_AUTH')
  })
})
