import { catalogue } from '../../catalogue';
import type history from '../../areas/history';

export default catalogue<typeof history>()({
});
