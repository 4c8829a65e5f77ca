import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { groupText, importWell } from '../support/imports.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'
import { startHosted } from './hosted.ts'
import { done, fill, makeFolder, messagesOf, moveIn, startMove } from './move-in-world.ts'

describe('parley move-in, interrupted and following', () => {
  it('goes on where it was killed, stopped or lost its key, within the limit of the source', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob')
    await createGroup(source, 'team', 'alice', { participants: ['bob'] })
    for (let n = 0; n < 150; n++) await sayInGroup(source, n % 3 === 0 ? 'bob' : 'alice', 'team', `line ${n}`)
    const hosted = await startHosted(source.url, { perSecond: 20, rows: 5 })
    const folder = await makeFolder()
    const main = path.resolve(import.meta.dirname, '../../dist/cli/main.js')
    const args = [main, 'move-in', '--from', hosted.url, '--from-app', source.app.name, '--into', folder]
    const env = { ...process.env, MOVE_IN_API_KEY: source.apiKey, PARLEY_API_KEY: target.apiKey }
    const run = (...more: string[]) =>
      spawn(process.execPath, [...args, ...more], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const [signal, ended] of [
      ['SIGKILL', [null, 'SIGKILL']],
      ['SIGINT', [130, null]],
      ['SIGKILL', [null, 'SIGKILL']],
    ] as const) {
      const [stopped, before] = [run(), hosted.seen.requests]
      const exited = once(stopped, 'exit')
      await until(() => hosted.seen.requests >= before + 8)
      stopped.kill(signal)
      expect(await exited).toEqual(ended)
    }
    hosted.troubles = { ...hosted.troubles, expired: 3 }
    const refused = run()
    let complaint = ''
    refused.stderr.on('data', (chunk) => {
      complaint += chunk
    })
    expect(await once(refused, 'close')).toEqual([3, null])
    expect(complaint).toContain('does not accept the API key: 401 AUTH_ERR_APIKEY_NOT_FOUND')
    hosted.troubles = { ...hosted.troubles, expired: 0 }
    const last = run('--url', target.url, '--app', target.app.name)
    let written = ''
    last.stderr.on('data', (chunk) => {
      written += chunk
    })
    const [code] = await once(last, 'exit')
    expect(code, written).toBe(0)
    expect(written).toMatch(/\d+ messages \(100% of the time\), \d+ users; \d+ of 1200 requests a minute/)
    expect(await messagesOf(target)).toEqual(await messagesOf(source))
    const scanned = (await readFile(path.join(folder, 'messages.ndjson'), 'utf8')).trimEnd().split('\n')
    expect(scanned).toHaveLength(dataOf(await source.get('/messages?limit=1000')).length)
    // It waits for the limit; hardly anything is asked beyond it.
    expect(hosted.seen.perSecond).toBeLessThan(hosted.seen.requests * 0.15)
  })

  it('follows what people do in the old service until cut-over, also after it was killed', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await fill(source)
    await createUsers(source, 'erin', 'frank')
    await done(source.post('/groups/team/members', { participants: ['erin', 'frank'] }))
    await done(source.post('/users/erin/friends', { accepted: ['frank'] }))
    await done(source.post('/users/erin/blockedusers', { blockedUids: ['bob'] }))
    const hosted = await startHosted(source.url, { failed: 200, reset: 200, repeated: 50, limited: 100, rows: 40 })
    const folder = await makeFolder()
    const main = path.resolve(import.meta.dirname, '../../dist/cli/main.js')
    const args = [main, 'move-in', '--from', hosted.url, '--from-app', source.app.name, '--into', folder]
    const more = ['--url', target.url, '--app', target.app.name, '--follow', '--interval', '1', '--overlap', '60']
    const env = {
      ...process.env,
      MOVE_IN_API_KEY: source.apiKey,
      PARLEY_API_KEY: target.apiKey,
      OUTBOUND_ALLOW: '127.0.0.1',
    }
    let written = ''
    const run = () => {
      const child = spawn(process.execPath, [...args, ...more], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          written += chunk
        })
      return child
    }
    let stopped = false
    const writing = (async () => {
      for (let n = 0; !stopped; n++) {
        await sayInGroup(source, n % 2 === 0 ? 'bob' : 'carol', 'team', `while moving ${n}`)
        await setTimeout(50)
      }
    })()
    const first = run()
    await until(() => written.includes(' behind:'), { progress: () => written.length })
    const [line] = dataOf(await source.get('/messages?searchKey=line%2011'))
    const [thread] = dataOf(await source.get('/messages?searchKey=a%20thread'))
    await done(source.put(`/messages/${line.id}`, { data: { text: 'line eleven' } }, { as: line.sender }))
    await done(source.delete(`/messages/${thread.id}/reactions/${encodeURIComponent('🍅')}`, {}, { as: 'carol' }))
    await done(source.delete(`/messages/${thread.id}/pin`, {}, { as: 'alice' }))
    const killed = once(first, 'exit')
    first.kill('SIGKILL')
    await killed
    const [soft, purged] = dataOf(await source.get('/messages?searchKey=line%202&affix=append'))
    // What a message got before it was deleted stays on it, and nobody can give it afterwards.
    const reactor = soft.sender === 'alice' ? 'bob' : 'alice'
    await done(source.post(`/messages/${soft.id}/reactions/${encodeURIComponent('👍')}`, {}, { as: reactor }))
    await done(source.delete(`/messages/${soft.id}`, {}, { as: soft.sender }))
    await done(source.delete(`/messages/${purged.id}`, { permanent: true }))
    written = ''
    const second = run()
    await until(() => written.includes(' behind:'), { progress: () => written.length })
    await createUsers(source, 'newcomer')
    await createGroup(source, 'fresh', 'newcomer', { participants: ['alice'] })
    await say(source, 'newcomer', 'alice', 'I am new')
    await sayInGroup(source, 'newcomer', 'fresh', 'and so is this')
    await done(source.delete('/groups/team/members', {}, { as: 'frank' }))
    await done(source.delete('/groups/team/bannedusers/dave', {}))
    await done(source.delete('/users/erin/friends', { friends: ['frank'] }))
    await done(source.delete('/users/erin/blockedusers', { blockedUids: ['bob'] }))
    await done(source.delete('/users/frank', { permanent: true }))
    await done(source.put('/users/bob', { name: 'Bobby' }))
    stopped = true
    await writing
    await writeFile(path.join(folder, 'cut-over'), '')
    const [code] = await once(second, 'exit')
    expect(code, written).toBe(0)
    expect(written).toContain('Cut over: nothing is left.')
    expect(await moveIn(source, hosted, target, folder, '--verify')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Equal'),
    })
    const report = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))
    expect(report.settled).toMatchObject({
      'followed: messages removed that were gone': expect.any(Number),
      'followed: bans removed that were lifted': 1,
      'followed: relations removed that had ended': expect.any(Number),
      'followed: users removed that were gone': 1,
    })

    // From now on people write in the new service: going on with old app versions removes nothing there.
    await createUsers(target, 'native')
    await say(target, 'native', 'alice', 'only here')
    await say(source, 'alice', 'bob', 'from an old version')
    await writeFile(path.join(folder, 'cut-over'), '')
    const late = await moveIn(source, hosted, target, folder, '--follow')
    expect(late).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing is removed') })
    for (const text of ['only here', 'from an old version'])
      expect(dataOf(await target.get(`/messages?searchKey=${encodeURIComponent(text)}`))).toHaveLength(1)
    expect((await target.get('/users/native')).status).toBe(200)
  })

  it('takes auth tokens and API keys that were made while it followed', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob')
    await say(source, 'alice', 'bob', 'hello')
    const hosted = await startHosted(source.url)
    const folder = await makeFolder()
    const tokenOf = async (uid: string) => dataOf(await source.post(`/users/${uid}/auth_tokens`, {})).authToken
    const early = await tokenOf('bob')
    const move = startMove(source, hosted, target, folder, '--follow', '--interval', '1')
    await until(() => move.written().includes(' behind:') || move.isOver(), { progress: () => move.written().length })
    const late = await tokenOf('bob')
    await createUsers(source, 'newcomer')
    const ofNew = await tokenOf('newcomer')
    const { apiKey } = dataOf(await source.post('/apikeys', { name: 'late', scope: 'fullAccess' }))
    move.cutOver()
    expect(await move.ended, move.written()).toBe(0)
    for (const token of [early, late, ofNew]) expect((await target.get('/conversations', { token })).status).toBe(200)
    expect((await target.get('/users/bob', { headers: { apikey: apiKey } })).status).toBe(200)
    const { settled, notices } = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))
    expect(settled).toMatchObject({ 'followed: auth tokens': 2, 'followed: API keys': 1 })
    expect(notices).toEqual([])
  })

  it('takes auth tokens of those who register while it cuts over', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob')
    await say(source, 'alice', 'bob', 'hello')
    const hosted = await startHosted(source.url)
    const folder = await makeFolder()
    const move = startMove(source, hosted, target, folder, '--follow', '--interval', '1')
    await until(() => move.written().includes(' behind:') || move.isOver(), { progress: () => move.written().length })
    let token: string | undefined
    // Users are compared first, settings of notifications later.
    hosted.onRequest = async (asked) => {
      if (!asked.includes('/notifications/') || token !== undefined) return
      token = ''
      await createUsers(source, 'late')
      token = dataOf(await source.post('/users/late/auth_tokens', {})).authToken
    }
    move.cutOver()
    expect(await move.ended, move.written()).toBe(0)
    expect((await target.get('/conversations', { token: token as string })).status).toBe(200)
    const { notices } = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))
    expect(notices).toEqual([])
  })

  it('takes messages with all whom they need: who reacted, who owns the group; and replies with their threads', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob')
    await createGroup(source, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(source, 'alice', 'team', 'before')
    const hosted = await startHosted(source.url)
    const folder = await makeFolder()
    expect(await moveIn(source, hosted, target, folder)).toMatchObject({ code: 0 })
    await createUsers(source, 'newcomer')
    await done(source.post('/groups/team/members', { participants: ['newcomer'] }))
    const root = await sayInGroup(source, 'alice', 'team', 'welcome')
    await done(source.post(`/messages/${root.id}/reactions/${encodeURIComponent('👍')}`, {}, { as: 'newcomer' }))
    await sayInGroup(source, 'bob', 'team', 'a reply', { parentId: root.id })
    await createGroup(source, 'fresh', 'newcomer', { participants: ['bob'] })
    await sayInGroup(source, 'bob', 'fresh', 'of a group whose owner wrote nothing')
    // Of long ago, so that only a comparison finds it.
    await importWell(source, 'messages', [
      groupText('old', 'alice', 'team', 1_600_000_000),
      ...Array.from({ length: 30 }, (_, n) =>
        groupText(`old-${n}`, 'bob', 'team', 1_600_000_001 + n, { parentMuid: 'old' }),
      ),
    ])
    await writeFile(path.join(folder, 'cut-over'), '')
    const followed = await moveIn(source, hosted, target, folder, '--follow')
    expect(followed, followed.stderr).toMatchObject({ code: 0 })
    const { notices } = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))
    expect(notices).toEqual([])
    const compared = await moveIn(source, hosted, target, folder, '--verify')
    expect(compared, compared.stdout).toMatchObject({ code: 0, stdout: expect.stringContaining('Equal') })
  })

  it('removes nothing from an app that had data of its own', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob')
    await say(source, 'alice', 'bob', 'to be moved')
    await createUsers(target, 'own', 'other')
    await say(target, 'own', 'other', 'mine')
    await createGroup(target, 'club', 'own')
    const hosted = await startHosted(source.url)
    const folder = await makeFolder()
    expect(await moveIn(source, hosted, target, folder, '--no-files')).toMatchObject({ code: 0 })
    await writeFile(path.join(folder, 'cut-over'), '')
    const followed = await moveIn(source, hosted, target, folder, '--follow')
    expect(followed).toMatchObject({ code: 0, stderr: expect.stringContaining('had data of its own') })
    for (const text of ['mine', 'to be moved'])
      expect(dataOf(await target.get(`/messages?searchKey=${encodeURIComponent(text)}`))).toHaveLength(1)
    for (const at of ['/users/own', '/groups/club']) expect((await target.get(at)).status).toBe(200)
  })
})
