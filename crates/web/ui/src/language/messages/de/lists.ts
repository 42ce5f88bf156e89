import { catalogue } from '../../catalogue';
import type lists from '../../areas/lists';

export default catalogue<typeof lists>()({
});
