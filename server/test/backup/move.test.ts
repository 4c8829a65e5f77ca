import { describe, expect, it } from 'vitest'
import { moveDatabase } from '../../src/backup/move.ts'
import { migrate } from '../../src/store/migrate.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, servedBy } from '../support/world.ts'
import { contentsOf, createSite, type Site } from './scene.ts'

const move = (from: Site, to: Site) =>
  moveDatabase({ from: from.connection, to: to.connection, targetName: to.name }, () => {})

describe('a database that is moved', () => {
  it('goes on in the other place as if nothing had been, and is not served any more in the first', async () => {
    const [site, other] = [await createSite(), await createSite({ isEmpty: true })]
    const service = await site.start()
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await say(world, 'alice', 'bob', 'one\ttwo\nthree \\')
    const last = await sayInGroup(world, 'alice', 'team', 'last')
    await expect(move(site, other)).rejects.toThrow('uses the source at the moment')
    await service.parley.close()

    const { rows } = await move(site, other)
    expect(rows).toBeGreaterThan(10)
    expect(await contentsOf(other, ['public.closed_database'])).toEqual(
      await contentsOf(site, ['public.closed_database']),
    )
    const sequences = `select sequencename, last_value from pg_sequences where schemaname = 'public' order by 1`
    expect(await other.query(sequences)).toEqual(await site.query(sequences))

    const again = servedBy(world, (await other.start()).url)
    const next = await say(again, 'bob', 'alice', 'next')
    expect(Number(next.id)).toBe(Number(last.id) + 1)
    expect(dataOf(await again.get('/groups/team'))).toMatchObject({ membersCount: 2 })
    await expect(migrate(site.connection)).rejects.toThrow(`This database was moved to ${other.name}.`)
  })

  it('is not served by whoever starts it meanwhile: they wait, and are told', async () => {
    const [site, other] = [await createSite(), await createSite({ isEmpty: true })]
    let starting: Promise<unknown> | undefined
    await moveDatabase({ from: site.connection, to: other.connection, targetName: other.name }, () => {
      starting ??= migrate(site.connection).then(
        () => expect.unreachable('it was served'),
        (error: Error) => error.message,
      )
    })
    expect(await starting).toContain(`This database was moved to ${other.name}.`)
  })

  it('is written over nothing: not over another, and not over one that was moved away', async () => {
    const [site, other, third] = [await createSite(), await createSite(), await createSite({ isEmpty: true })]
    await site.query(`insert into settings values ('mark', 'kept')`)
    await expect(move(other, site)).rejects.toThrow('The target is not empty.')
    await move(site, third)
    await expect(move(other, site)).rejects.toThrow('The target is not empty.')
    expect(await site.query(`select value from settings where name = 'mark'`)).toEqual([{ value: 'kept' }])
    await expect(move(third, await createSite({ isEmpty: true }))).resolves.toBeDefined()
  })
})
